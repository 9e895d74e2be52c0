#!/usr/bin/env python3
"""scripts/surroundings.py: a command sees the same surroundings for every caller, and leaves nothing behind."""
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "surroundings.py"
LIMIT = 120
# Prints what it sees, as JSON.
PROBE = """
import json, os, resource, stat
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
mask = os.umask(0)
print(json.dumps({
    "signals": [status[name] for name in ("SigBlk", "SigIgn")], "umask": mask, "session": os.getsid(0) == os.getpid(),
    "terminal": os.path.exists("/dev/tty") and os.system("exec 2>/dev/null; : </dev/tty") == 0,
    "descriptors": sorted(int(n) for n in os.listdir("/proc/self/fd"))[:-1], "input": os.readlink("/proc/self/fd/0"),
    "limits": [resource.getrlimit(which) for which in (resource.RLIMIT_CORE, resource.RLIMIT_NOFILE, resource.RLIMIT_STACK)],
    "nice": os.getpriority(os.PRIO_PROCESS, 0), "policy": os.sched_getscheduler(0),
    "environment": sorted(set(os.environ) - {"LC_CTYPE"}), "language": os.environ["LANG"],
    "temporary": os.listdir(os.environ["TMPDIR"])}))
"""
PYTHON = "/usr/bin/python3"  # ignores SIGPIPE and SIGXFSZ itself, always the same


def ignore(*numbers):
    return lambda: [signal.signal(number, signal.SIG_IGN) for number in numbers]


def block(*numbers):
    return lambda: signal.pthread_sigmask(signal.SIG_BLOCK, numbers)


def soft_limit(which, value):
    return lambda: resource.setrlimit(which, (value, resource.getrlimit(which)[1]))


def be_batch():
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def be_on_one_processor():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


HANDLED = (signal.SIGQUIT, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD, signal.SIGTERM, signal.SIGALRM)
STARTS = {
    "signals ignored": ignore(*HANDLED),
    "signals blocked": block(*HANDLED),
    "no core files": lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
    "few descriptors": soft_limit(resource.RLIMIT_NOFILE, 256),
    "small stack": soft_limit(resource.RLIMIT_STACK, 1 << 20),
    "one processor": be_on_one_processor,
    "batch": be_batch,
    "umask": lambda: os.umask(0o077),
    "session": os.setsid,
}
if os.getuid() == 0:
    STARTS["nice"] = lambda: os.nice(7)


class Surroundings(unittest.TestCase):
    def run_in(self, *command, **how):
        return subprocess.run([sys.executable, SCRIPT, *command], capture_output=True, text=True, timeout=LIMIT, check=False,
                              **how)

    def seen(self, **how):
        done = self.run_in(PYTHON, "-c", PROBE, **how)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_same_however_it_is_started(self):
        usual = self.seen()
        self.assertTrue(usual["session"])
        self.assertFalse(usual["terminal"])
        self.assertEqual((usual["descriptors"], usual["input"], usual["temporary"]), ([0, 1, 2], "/dev/null", []))
        for name, start in STARTS.items():
            with self.subTest(name):
                self.assertEqual(self.seen(preexec_fn=start), usual)
        with self.subTest("environment"):
            self.assertEqual(self.seen(env={**os.environ, "FOO": "1", "LC_ALL": "tr_TR", "LANG": "x"}), usual)
        with self.subTest("a folder with a blank"), tempfile.TemporaryDirectory(suffix=" a b") as folder:
            self.assertEqual(self.seen(cwd=folder), usual)
        with self.subTest("descriptor"):
            self.assertEqual(self.seen(pass_fds=(os.open("/dev/null", os.O_RDONLY),)), usual)
        with self.subTest("input"):
            self.assertEqual(self.seen(input="text"), usual)

    def test_exit_statuses(self):
        for script, status in (("exit 3", 3), ("kill -9 $$", 137), ("true", 0)):
            self.assertEqual(self.run_in("sh", "-c", script).returncode, status)
        missing = self.run_in("/no/such/command")
        self.assertEqual((missing.returncode, missing.stderr), (127, "surroundings: /no/such/command: No such file or directory\n"))

    def test_nothing_is_left(self):
        done = self.run_in("sh", "-c", "touch $TMPDIR/file; setsid sh -c 'sleep 1000 & sleep 1000' & echo $TMPDIR; "
                                       "ps -o pid= --ppid $$ >/dev/null; sleep 0.2; ps -C sleep -o pid=")
        temporary, *left = done.stdout.split()
        self.assertFalse(os.path.exists(temporary))
        self.assertTrue(left)
        for pid in left:
            self.assertFalse(self.is_ours(pid), f"process {pid} runs on")

    @staticmethod
    def is_ours(pid):
        try:
            return b"1000" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False

    def test_signals_end_all(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number=number):
                process = subprocess.Popen([sys.executable, SCRIPT, "sh", "-c", "echo $$; sleep 1000; :"], stdout=subprocess.PIPE,
                                           text=True)
                shell = int(process.stdout.readline())
                process.send_signal(number)
                self.assertEqual(process.wait(LIMIT), 128 + number)
                process.stdout.close()
                limit = time.monotonic() + LIMIT
                while os.path.exists(f"/proc/{shell}") and time.monotonic() < limit:
                    time.sleep(0.01)
                self.assertFalse(os.path.exists(f"/proc/{shell}"))


if __name__ == "__main__":
    unittest.main()
