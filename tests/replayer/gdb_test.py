#!/usr/bin/env python3
"""`reweave replay -g` with the real gdb: what a user sees at a stop, and that the usual commands work.

Usage: gdb_test.py REWEAVE TARGET STATIC_TARGET TSAN_TARGET TREE (gdb_target.c, built three times, and gdb_tree.c).
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from plain_gdb import hardware_watchpoints_work

REWEAVE, TARGET, STATIC_TARGET, TSAN_TARGET, TREE = sys.argv[1:6]
# Their outcome depends on the schedule. The outcomes of the other commands do not.
MAY_FAIL = ((TARGET,), (STATIC_TARGET,), (TSAN_TARGET,), (TARGET, "deadlock"))
LIMIT = 600  # seconds


def reweave(*arguments):
    return subprocess.run([REWEAVE, *arguments], capture_output=True, text=True, timeout=LIMIT, check=False,
                          stdin=subprocess.DEVNULL)


class GdbTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if shutil.which("gdb") is None:
            raise RuntimeError("gdb is not installed: apt install gdb")
        cls.folder = tempfile.mkdtemp(prefix="reweave-gdb-")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def recording(self, *command):
        """Records the command under chaos, a program that may fail until it does. Later calls with the same command
        return the same recording."""
        path = os.path.join(self.folder, "-".join(map(os.path.basename, command))[:60])
        if not os.path.exists(path):
            until_fail = ["--until-fail", "600"] if command in MAY_FAIL else []
            made = reweave("record", "--chaos", "--seed", "1", *until_fail, "-o", path, "--", *command)
            assert os.path.exists(path), made.stderr
        return path

    def gdb(self, event, commands, *command, status=0, pid=None):
        result = reweave("replay", "--quiet", "-g", str(event), *(["-p", pid] if pid else []), "--gdb-batch",
                         ";".join(commands), self.recording(*command))
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        self.assertNotIn("warning", result.stdout + result.stderr)
        return result.stdout

    def test_end_of_an_abort_is_at_the_assertion(self):
        out = self.gdb("end", ["bt"], TARGET)
        self.assertIn("received signal SIGABRT", out)
        names = re.findall(r"^#\d+ .*?(\w+) \(", out[out.rindex("event "):], re.M)
        for name in ("__assert_fail", "main"):
            self.assertTrue(any(name in n for n in names), out)
        self.assertNotIn("reweave::", out)

    def test_continue_reaches_the_abort(self):
        out = self.gdb(1, ["continue", "bt", "continue"], TARGET)
        self.assertRegex(out, r"received signal SIGABRT")
        self.assertRegex(out, r"main \(argc=1")
        self.assertIn("terminated with signal SIGABRT", out)

    def test_breakpoint_locals_and_thread_local_storage(self):
        out = self.gdb(1, ["break increment", "continue", "next", "next", "info locals", "print amount", "up",
                           "print rounds", "print per_thread - rounds"], TARGET)
        self.assertIn("hit Breakpoint 1, increment (amount=1)", out)
        self.assertIn("seen = 0\nwanted = 1", out)
        self.assertIn("$1 = 1", out)
        self.assertIn("$3 = 40", out)

    def test_next_over_a_call_that_switches_threads(self):
        # Other threads run during `next`, but it ends in the same thread.
        out = self.gdb(1, ["break gdb_target.c:18", "continue", "disable", "print $_thread", "next", "print $_thread", "step", "step",
                           "step", "print $_thread", "finish"], TARGET)
        self.assertIn("19\t  shared_counter = wanted;", out)
        thread = re.search(r"\$1 = (\d+)", out)[1]
        self.assertIn("$2 = " + thread, out)
        self.assertIn("$3 = " + thread, out)

    def watch_shared_counter(self, *settings):
        """Checks that the watchpoint shows the first change, in the thread that made it. Returns gdb's output."""
        out = self.gdb(1, [*settings, "break run_workers", "continue", "watch shared_counter", "continue", "bt",
                           "info threads"], TARGET)
        self.assertRegex(out, r"hit (Hardware w|W)atchpoint 2: shared_counter\n\nOld value = 0\nNew value = 1")
        self.assertRegex(out, r"#1 .* worker \(argument=")
        self.assertRegex(out, r"(?m)^  1 .*\"t0 tid \d+\" .*futex")
        return out

    def test_watchpoint_on_what_another_thread_writes(self):
        if not hardware_watchpoints_work(TARGET, "run_workers", "shared_counter"):
            self.skipTest("no hardware watchpoint stops anything here; the next test has the others")
        self.assertIn("hit Hardware", self.watch_shared_counter())

    def test_watchpoint_without_hardware(self):
        self.assertIn("hit Watchpoint", self.watch_shared_counter("set can-use-hw-watchpoints 0"))

    def test_info_threads_shows_each_in_the_program(self):
        for _ in range(5):  # on a busy machine one worker may be at the breakpoint before the other exists
            out = self.gdb(1, ["break increment", "continue", "info threads", "thread apply all bt"], TARGET)
            lines = re.findall(r"(?m)^[* ] \d+ +LWP \d+ \"(t\d) tid \d+\" (.*)$", out)
            if len(lines) == 3:
                break
            shutil.rmtree(self.recording(TARGET))
        self.assertEqual(sorted(name for name, _ in lines), ["t0", "t1", "t2"])
        self.assertNotIn("reweave::core", out)
        self.assertIn("increment (amount=1)", out)
        self.assertRegex(out, r"in run_workers \(\) at")

    def test_event_numbers(self):
        out = self.gdb(20, ["when", "reweave goto 40", "when", "reweave back", "when", "reweave threads"], TARGET)
        events = [int(n) for n in re.findall(r"(?m)^event (\d+), schedule point \d+$", out)]
        first, _, second, _, third, _ = events
        self.assertGreaterEqual(first, 20)
        self.assertGreaterEqual(second, 40)
        self.assertLess(third, second)
        self.assertRegex(out, r"(?m)^\* t0 tid \d+ process 0: running$")

    def test_first_event_of_each_thread(self):
        first = {}
        for event, thread in re.findall(r"(?m)^(\d+) (t\d+) ", reweave("dump", self.recording(TARGET)).stdout):
            first.setdefault(thread, event)
        self.assertGreater(len(first), 2)
        del first["t0"]
        for event in first.values():
            self.assertRegex(self.gdb(event, ["info threads"], TARGET), r"(?m)^\* .*clone3? \(\)")

    def test_breakpoints_survive_a_restart(self):
        out = self.gdb(1, ["break increment", "continue", "reweave goto 1", "continue", "info breakpoints"], TARGET)
        self.assertEqual(out.count("hit Breakpoint 1, increment"), 2)

    def test_segmentation_fault_stops_once_at_the_instruction(self):
        for event in ("1", "end"):
            out = self.gdb(event, ["continue"] if event == "1" else [], TARGET, "segv")
            self.assertEqual(out.count("received signal SIGSEGV"), 1, out)
            self.assertIn("read_through (pointer=0x0)", out)
        out = self.gdb("end", ["bt", "continue"], TARGET, "segv")
        self.assertRegex(out, r"#1 .*main \(argc=2")
        self.assertIn("terminated with signal SIGSEGV", out)

    def test_deadlock_stops_with_the_threads_in_their_locks(self):
        out = self.gdb("end", ["thread apply all bt", "reweave threads"], TARGET, "deadlock")
        self.assertIn("the run ends here: deadlock", out)
        stacks = out[out.index("\nThread "):]
        self.assertEqual(len(re.findall(r"(?m)^#\d+ .*pthread_mutex_lock.*\n#\d+ .*in locker \(", stacks)), 2, out)
        self.assertNotIn("mutex=", stacks)  # which would not be the program's
        self.assertNotIn("running", out)
        self.assertRegex(out, r"blocked on the mutex at 0x\w+, held by tid \d+")

    def test_stepping_a_line_that_reads_the_clock(self):
        out = self.gdb(1, ["break read_clock", "continue"] + ["next"] * 7 + ["print after > before", "continue"], TARGET,
                       "tsc")
        self.assertIn("$1 = 1", out)
        self.assertIn("exited with code 03", out)
        self.assertNotIn("SIGSEGV", out)

    def test_static_program(self):
        out = self.gdb("end", ["bt"], STATIC_TARGET)
        self.assertIn("received signal SIGABRT", out)
        self.assertRegex(out, r"main \(argc=1")

    def test_thread_sanitizer_build(self):
        # The symbols of ThreadSanitizer's runtime must not appear at the addresses of our library.
        out = self.gdb(1, ["break increment", "continue", "bt", "next", "next", "next", "info locals", "info threads",
                           "info sharedlibrary"], TSAN_TARGET)
        self.assertIn("hit Breakpoint 1, increment (amount=1)", out)
        self.assertNotIn("__tsan::", out)
        self.assertNotIn("__sanitizer::", out)
        self.assertIn("wanted = 1", out)

    def test_python(self):
        script = "import threading, time\nt = threading.Thread(target=time.sleep, args=(0.01,))\nt.start()\nt.join()"
        path = self.recording("python3", "-c", script)
        dump = reweave("dump", path).stdout
        event = re.search(r"(?m)^(\d+) t\d+ call clock_nanosleep", dump)[1]
        out = self.gdb(event, ["bt", "info threads"], "python3", "-c", script)
        self.assertIn("clock_nanosleep", out)
        self.assertGreaterEqual(len(re.findall(r"(?m)^[* ] \d+ +LWP", out)), 2)

    def test_exec_adopts_the_new_program(self):
        out = self.gdb(10, ["continue"], "sh", "-c", "exec /bin/echo")
        self.assertRegex(out, r"process \d+ is executing new program: \S*/echo")
        self.assertIn("exited normally", out)

    def processes(self, *command):
        """Returns the IDs of a tree's processes, the first one first, and how each ended."""
        rows = [line.split() for line in reweave("ps", self.recording(*command)).stdout.splitlines()[1:]]
        return [row[0] for row in rows], [row[2] for row in rows]

    def test_the_process_that_failed_is_debugged(self):
        pids, endings = self.processes(TREE, "die")
        self.assertEqual(endings, ["3", "4", "SIGABRT"])
        out = self.gdb("end", ["bt", "print generation"], TREE, "die")
        self.assertIn("received signal SIGABRT", out)
        self.assertIn("last_of_all (dies=1)", out)
        self.assertIn("$1 = 2", out)

    def test_the_first_process_is_debugged_if_none_failed(self):
        out = self.gdb("end", ["print generation"], TREE)
        self.assertIn("$1 = 0", out)

    def test_each_process_of_a_tree(self):
        pids, _ = self.processes(TREE, "die")
        for generation, pid in enumerate(pids):
            at_end = self.gdb("end", ["print generation", "continue"], TREE, "die", pid=pid)
            self.assertIn("$1 = %d" % generation, at_end)
            self.assertIn(["exited with code 03", "exited with code 04", "terminated with signal SIGABRT"][generation],
                          at_end)
            early = self.gdb(1, ["break wait_for_child", "break last_of_all", "continue", "print generation", "finish"],
                             TREE, "die", pid=pid)
            self.assertIn("$1 = %d" % generation, early)
            self.assertRegex(early, "Breakpoint [12], " + ("last_of_all" if generation == 2 else "wait_for_child"))
        again = self.gdb("end", ["reweave goto 1", "break last_of_all", "continue", "print generation"], TREE, "die",
                         pid=pids[2])
        self.assertIn("$1 = 2", again)

    def test_event_at_which_a_process_ends(self):
        dump = reweave("dump", self.recording(TREE)).stdout
        event = 1 + int(re.search(r"(?m)^(\d+) t\d+ process 2 exit", dump)[1])
        out = self.gdb(event, ["reweave goto 1", "break wait_for_child", "continue", "print generation"], TREE)
        self.assertIn("reweave: the process ends at this event", out)
        self.assertIn("$1 = ", out)

    def test_a_process_that_is_not_there(self):
        path = self.recording(TREE, "die")
        unknown = reweave("replay", "-p", "1", path, "--gdb-batch", "bt")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("has no process 1; `reweave ps` lists them", unknown.stderr)
        pids, _ = self.processes(TREE, "die")
        total = len(reweave("dump", path).stdout.splitlines())
        gone = reweave("replay", "-p", pids[2], "-g", str(total - 3), path, "--gdb-batch", "bt")
        self.assertEqual(gone.returncode, 2, gone.stdout)
        self.assertRegex(gone.stderr, r"process \d+ ended at event \d+")

    def test_errors_say_what_is_wrong(self):
        path = self.recording(TARGET)
        past = reweave("replay", "-g", "999999", path, "--gdb-batch", "bt")
        self.assertEqual(past.returncode, 2)
        self.assertIn("has only the events 0 to", past.stderr)
        name = reweave("replay", "-g", "main", path, "--gdb-batch", "bt")
        self.assertEqual(name.returncode, 2)
        self.assertRegex(name.stderr, "give the number of an event.*a position.*`end`, or `inevitable`")
        missing = subprocess.run([REWEAVE, "replay", "-g", "1", path], capture_output=True, text=True, timeout=LIMIT,
                                 env={**os.environ, "PATH": "/nonexistent"}, check=False)
        self.assertEqual(missing.returncode, 2)
        self.assertIn("gdb is not installed", missing.stderr)

    def test_nothing_is_left_when_gdb_ends(self):
        out = self.gdb(20, ["python print('pid', gdb.selected_inferior().pid)"], TARGET)
        pid = int(re.search(r"pid (\d+)", out)[1])
        self.assertFalse(os.path.exists("/proc/%d" % pid))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:], verbosity=2)
