#!/usr/bin/env python3
"""Faults: targets and supervisors killed at random instants, recordings with bytes changed or missing. No logged event
is lost, no program continues unrecorded, and every damage gives an error with a message.

    faults_check.py --build BUILD [--instants N] [--recordings N] [--places N] [--seed N] [TEST...]

In each recording, tests/formats/damage_recording.cc changes every byte of the events and the manifest, cuts them to
every length, and reads the result. `replay`, `dump` and `ps` also read recordings damaged at some places of all files.
A thorough check is --instants 200 --recordings 200.
"""
import argparse
import concurrent.futures
import contextlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time
import unittest

from scratch_case import ScratchCase

NO_SYSTEM, TRUNCATED, DEFECT = 4, 6, 70
LIMIT_SECONDS = 600
SYSTEM_FOLDER = "/usr/games"
# Prints each step without buffering, so that a replay's output can be compared. Forks and uses pipes meanwhile.
BUSY = r"""
echo $$ > "$1"
i=0
while [ $i -lt 400 ]; do
  echo "round $i"
  echo $i | tr 0-9 a-j
  i=$((i + 1))
done
"""
# Needs the supervisor only at its start: it is static, so it maps none of our libraries, and it is in a system folder,
# so the recording needs no copy of it. If nobody ends it, its child keeps running.
FORKS = r"""
#include <fcntl.h>
#include <unistd.h>
int main(int count, char** arguments) {
  if (count == 2 && fork() == 0) close(open(arguments[1], O_CREAT | O_WRONLY, 0600));
  sleep(30);
  return 0;
}
"""
# Preloaded into the supervisor, delays the start of the guard. Programs that the supervisor starts run without it.
SLOW_GUARD = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <stdlib.h>
__attribute__((constructor)) static void alone(void) { unsetenv("LD_PRELOAD"); }
int socketpair(int domain, int type, int protocol, int ends[2]) {
  usleep(1000000);
  return (int)syscall(SYS_socketpair, domain, type, protocol, ends);
}
"""
SMALL = [["/bin/echo", "hello"], ["/bin/sh", "-c", "echo a; echo b >&2; exit 3"], ["/bin/cat", "/etc/hostname"],
         ["/bin/sh", "-c", "kill -9 $$"], ["/bin/sh", "-c", "echo x | tr x y"]]


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def marked(mark):
    """Returns the IDs of running processes that have `mark` in their environment."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes() and is_running(entry.name):
                found.append(entry.name)
        except OSError:
            pass
    return found


def guards_of(recorder):
    """Returns the IDs of the recorder's guards: processes called reweave-guard that have the recorder's arena open."""
    arenas = set()
    for entry in pathlib.Path(f"/proc/{recorder}/fd").iterdir():
        with contextlib.suppress(OSError):  # The recorder may close it between the listing and here.
            if "reweave-arena" in os.readlink(entry):
                arenas.add(os.stat(entry).st_ino)
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if (entry / "comm").read_text() == "reweave-guard\n" and os.stat(entry / "fd/1").st_ino in arenas:
                found.append(entry.name)
    return found


def wait_until(condition):
    limit = time.monotonic() + LIMIT_SECONDS
    while not condition():
        if time.monotonic() > limit:
            raise AssertionError("it does not come about")
        time.sleep(0.005)


def described(pids):
    """Describes what each process is doing, as far as /proc still shows it."""
    lines = []
    for pid in pids:
        for name in ("comm", "stat", "wchan", "syscall"):
            try:
                lines.append(f"{pid} {name}: {pathlib.Path(f'/proc/{pid}/{name}').read_text().strip()}")
            except OSError as error:
                lines.append(f"{pid} {name}: {error.strerror}")
    return "\n".join(lines)


class Faults(ScratchCase):
    arguments = None

    def setUp(self):
        super().setUp()
        self.reweave = self.arguments.build / "reweave"
        self.random = random.Random(self.arguments.seed)

    def start(self, recording, mark=b"none"):
        """Starts a recording and waits until the program has begun. Returns (recorder, ID of the first process)."""
        marker = self.folder / "pid"
        marker.unlink(missing_ok=True)
        output = open(self.folder / "output", "wb")
        errors = open(self.folder / "errors", "wb")
        with output, errors:
            process = subprocess.Popen([self.reweave, "record", "-o", recording, "--", "/bin/sh", "-c", BUSY, "sh", marker],
                                       stdin=subprocess.DEVNULL, stdout=output, stderr=errors, process_group=0,
                                       env={**os.environ, "REWEAVE_TEST_MARK": mark.decode()})
        limit = time.monotonic() + LIMIT_SECONDS
        while not marker.exists() or not marker.read_text().endswith("\n"):
            self.assertLess(time.monotonic(), limit, "the program does not start")
            time.sleep(0.005)
        return process, int(marker.read_text())

    def replay(self, recording):
        return subprocess.run([self.reweave, "replay", recording], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=LIMIT_SECONDS, check=False)

    def written(self):
        return (self.folder / "output").read_bytes()

    def assert_shown(self, replayed, status):
        """The replay ends as the program did, with the same output. If the program was killed, the kernel may have done
        one more write, whose result could no longer be logged."""
        self.assertEqual(replayed.returncode, status, replayed.stderr)
        written = self.written()
        self.assertTrue(written.startswith(replayed.stdout), (written, replayed.stdout))
        self.assertRegex(written[len(replayed.stdout):], rb"\A\Z" if status == 0 else rb"\A(round \d+\n)?\Z")

    def test_target_killed_at_random_instants(self):
        for number in range(self.arguments.instants):
            recording = self.folder / "recording"
            process, pid = self.start(recording)
            time.sleep(self.random.uniform(0, 0.3))
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            status = process.wait(LIMIT_SECONDS)
            with self.subTest(instant=number):
                self.assertIn(status, (0, 128 + signal.SIGKILL), (self.folder / "errors").read_text())
                self.assert_shown(self.replay(recording), status)
            shutil.rmtree(recording)

    def is_said(self):
        return "the program is ended" in (self.folder / "errors").read_text()

    def assert_stopped(self, process, mark):
        """Soon after the supervisor is killed, the program is ended with a message, unless it ended by itself."""
        ended = process.wait() == 0
        limit = time.monotonic() + 60
        while (marked(mark) or not (ended or self.is_said())) and time.monotonic() < limit:
            time.sleep(0.02)
        left = marked(mark)
        doing = described(left)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        self.assertEqual(left, [], f"runs on without its supervisor, said: {self.is_said()}\n{doing}")
        self.assertTrue(ended or self.is_said(), "nothing says that the program is ended")

    def kill_all(self, mark, recorder):
        """Kills the recorder, its guard and the program at once, as the kernel kills a container. Lists processes again
        until none is left, because some may be created between the listing and the signals."""
        killed = [str(recorder.pid), *guards_of(recorder.pid), *marked(mark)]
        limit = time.monotonic() + LIMIT_SECONDS
        while killed and time.monotonic() < limit:
            for pid in killed:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            time.sleep(0.005)
            killed = marked(mark)
        self.assertEqual(killed, [], described(killed))

    def assert_all_replays(self, recording):
        """A recording without an end replays all output, except for one write that could no longer be logged."""
        replayed = self.replay(recording)
        self.assertEqual(replayed.returncode, TRUNCATED, replayed.stderr)
        self.assertIn(b"truncated", replayed.stderr)
        written = self.written()
        self.assertTrue(written.startswith(replayed.stdout), "the replay shows what was never there")
        self.assertRegex(written[len(replayed.stdout):], rb"\A(round \d+\n|[a-j]+\n)?\Z")
        self.assertFalse((recording / "unsaved").exists())

    def test_supervisor_killed_at_random_instants(self):
        for number in range(self.arguments.instants):
            mark = f"reweave-fault-{os.getpid()}-{number}".encode()
            recording = self.folder / "recording"
            process, _ = self.start(recording, mark)
            time.sleep(self.random.uniform(0, 0.3))
            whom = self.random.choice(("recorder", "group", "everybody"))
            if whom == "recorder":
                process.kill()
            elif whom == "group":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                self.kill_all(mark, process)
            with self.subTest(instant=number, whom=whom):
                if whom == "everybody":
                    process.wait()
                else:
                    self.assert_stopped(process, mark)
                if process.returncode != 0:
                    self.assert_all_replays(recording)
            shutil.rmtree(recording)

    def test_what_was_read_from_large_files_is_kept(self):
        """The recorder fetches the data of such reads after it logs the calls."""
        large = self.folder / "large"
        large.write_bytes(b"".join(b"%07d\n" % line for line in range(1 << 19)))
        for number in range(self.arguments.instants):
            recording = self.folder / "recording"
            with open(self.folder / "output", "wb") as output:
                process = subprocess.Popen([self.reweave, "record", "-o", recording, "--", "/bin/cat", large],
                                           stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL)
            wait_until(lambda: self.written() or process.poll() is not None)
            time.sleep(self.random.uniform(0, 0.02))
            process.kill()
            if process.wait() != 0:
                with self.subTest(instant=number):
                    replayed = self.replay(recording)
                    written = self.written()
                    if replayed.returncode == 0:  # the recorder was killed after it had completed the recording
                        self.assertEqual(replayed.stdout, written)
                    else:
                        self.assertEqual(replayed.returncode, TRUNCATED, replayed.stderr)
                    self.assertTrue(written.startswith(replayed.stdout), "the replay shows what was never there")
            shutil.rmtree(recording)

    @unittest.skipUnless(os.getuid() == 0, "mounts a folder of its own")
    def test_full_disk(self):
        """When the disk is full, the program is stopped at the last call that the recording has."""
        disk, said = self.folder / "disk", self.folder / "said"
        disk.mkdir()
        # The ring's file takes 16 MiB of the disk; random bytes do not compress.
        within = """mount --make-rprivate /; mount -t tmpfs -o size=24m none "$1" || exit 99
            "$2" record -o "$1/recording" -- sh -c 'i=0; while [ $i -lt 60 ]; do head -c 1000000 /dev/urandom | md5sum;
                i=$((i + 1)); done' > "$3.recorded" 2> "$3.errors"; echo $? > "$3.status"
            "$2" replay "$1/recording" > "$3.replayed" 2> "$3.cut"; echo $? >> "$3.status" """
        subprocess.run(["unshare", "--mount", "--propagation", "unchanged", "sh", "-c", within, "sh", disk, self.reweave, said],
                       stdin=subprocess.DEVNULL, timeout=LIMIT_SECONDS, check=False)
        recorded, replayed, errors, cut, status = (pathlib.Path(f"{said}.{name}").read_text() for name in (
            "recorded", "replayed", "errors", "cut", "status"))
        self.assertEqual(status.split(), [str(NO_SYSTEM), str(TRUNCATED)], errors + cut)
        self.assertRegex(errors, r"\Areweave: [^\n]*No space left[^\n]*; the program is stopped, and the recording up to there "
                                 r"is [^\n]*\n\Z")
        self.assertTrue(replayed and recorded.startswith(replayed))
        self.assertLessEqual(recorded.count("\n"), replayed.count("\n") + 1)

    def test_limit_of_file_sizes(self):
        for kib in (0, 1, 64, 1024, 20000):
            with self.subTest(kib=kib):
                recording = self.folder / f"limit-{kib}"
                done = subprocess.run(["/bin/bash", "-c", f'ulimit -f {kib}; exec "$0" record -o "$1" -- /bin/sh -c '
                                       '"head -c 3000000 /dev/urandom | md5sum"', self.reweave, recording],
                                      capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
                if done.returncode == 0:
                    self.assertEqual(self.replay(recording).stdout.decode(), done.stdout)
                else:
                    # If the limit is too small for the files shared with the program, that is reported before the
                    # program begins.
                    self.assertIn(done.returncode, (2, NO_SYSTEM), done.stderr)
                    self.assertRegex(done.stderr, r"\Areweave: [^\n]*raise it[^\n]*ulimit -f[^\n]*\n\Z")

    @unittest.skipUnless(os.getuid() == 0, "mounts a folder of its own")
    def test_supervisor_killed_before_its_guard(self):
        """The program does not run before its guard can end its processes, however long the guard takes to start."""
        slow = self.compiled("slow.so", SLOW_GUARD, "-shared", "-fPIC")
        forks, running = self.compiled("forks", FORKS, "-static"), self.folder / "running"
        mark = f"reweave-fault-{os.getpid()}-unguarded".encode()
        # In a chroot, / is not a mount that can be made private, and others may see the folder until it is unmounted.
        within = (f"mount --make-rprivate /; mount -t tmpfs none {SYSTEM_FOLDER} && cp {forks} {SYSTEM_FOLDER}/forks && "
                  f"exec env LD_PRELOAD={slow} \"$@\"")
        command = ["unshare", "--mount", "--propagation", "unchanged", "sh", "-c", within, "sh", self.reweave, "record",
                   "-o", self.recording, "--", f"{SYSTEM_FOLDER}/forks", running]
        self.addCleanup(lambda: os.path.ismount(SYSTEM_FOLDER) and subprocess.run(["umount", SYSTEM_FOLDER], check=True))
        with open(self.folder / "errors", "wb") as errors:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors,
                                       env={**os.environ, "REWEAVE_TEST_MARK": mark.decode()})
        limit = time.monotonic() + LIMIT_SECONDS
        while not running.exists():
            self.assertTrue(process.poll() is None and time.monotonic() < limit,
                            f"the program does not start: {(self.folder / 'errors').read_text()}")
            time.sleep(0.005)
        process.kill()
        self.assert_stopped(process, mark)

    def record_small(self, number):
        recording = self.folder / f"small-{number}"
        subprocess.run([self.reweave, "record", "--seed", str(number), "-o", recording, "--", *SMALL[number % len(SMALL)]],
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_SECONDS, check=False)
        return recording

    def places(self, size):
        return self.random.sample(range(size), min(size, self.arguments.places))

    def damaged(self, recording):
        """Yields (description, file, damaged content) for each damage."""
        for path in sorted(path for path in recording.rglob("*") if path.is_file() and not path.name.startswith("preload")):
            sound = path.read_bytes()
            for at in self.places(len(sound)):
                yield f"{path.name} byte {at} changed", path, sound[:at] + bytes([sound[at] ^ 0xff]) + sound[at + 1:]
                yield f"{path.name} cut at {at}", path, sound[:at]

    def check_damage(self, number):
        """Returns messages about the problems with one damaged recording."""
        recording, found = self.record_small(number), []
        copy = self.folder / f"damaged-{number}"
        for what, path, content in list(self.damaged(recording)):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(recording, copy)
            (copy / path.relative_to(recording)).write_bytes(content)
            for verb in (["replay", "--quiet", copy], ["dump", copy], ["ps", copy]):
                try:
                    done = subprocess.run([self.reweave, *verb], stdin=subprocess.DEVNULL, capture_output=True,
                                          timeout=LIMIT_SECONDS, check=False)
                except subprocess.TimeoutExpired:
                    found.append(f"{what}: {verb[0]} does not end")
                    continue
                if done.returncode < 0 or done.returncode == DEFECT:
                    found.append(f"{what}: {verb[0]} ended with {done.returncode}: {done.stderr[-300:]}")
                if verb[0] == "replay" and not done.stderr.startswith(b"reweave: ") and b"reweave: " not in done.stderr:
                    found.append(f"{what}: unnoticed")
            shutil.rmtree(copy)
        shutil.rmtree(recording)
        return found

    def test_damaged_recordings(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = sum(pool.map(self.check_damage, range(self.arguments.recordings)), [])
        self.assertEqual(found, [])

    def test_every_byte_of_recordings(self):
        recordings = [self.record_small(number) for number in range(self.arguments.recordings)]
        tool = self.arguments.build / "tests" / "formats" / "damage_recording"
        halves = [recordings[0::2], recordings[1::2]]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for done in pool.map(lambda half: subprocess.run([tool, *half], capture_output=True, text=True, check=False),
                                 halves):
                print(done.stdout.splitlines()[-1], flush=True)
                self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr)

    def test_descriptor_limit(self):
        for limit in (1010, 1003, 64):
            with self.subTest(limit=limit):
                recording = self.folder / f"limit-{limit}"
                done = subprocess.run(["/bin/sh", "-c", f'ulimit -n {limit}; exec "$0" record -o "$1" -- /bin/echo hello',
                                       self.reweave, recording], capture_output=True, text=True, timeout=LIMIT_SECONDS,
                                      check=False)
                if done.returncode == 0:
                    self.assertEqual((done.stdout, self.replay(recording).stdout), ("hello\n", b"hello\n"))
                else:
                    self.assertIn("reweave: ", done.stderr)
                    self.assertIn("descriptor", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--instants", type=int, default=8)
    parser.add_argument("--recordings", type=int, default=3)
    parser.add_argument("--places", type=int, default=12, help="in each file")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("REWEAVE_TEST_SEED", "1")))
    Faults.arguments, rest = parser.parse_known_args()
    Faults.arguments.build = Faults.arguments.build.resolve()
    print("seed", Faults.arguments.seed, flush=True)
    unittest.main(argv=["faults_check.py", *rest])
