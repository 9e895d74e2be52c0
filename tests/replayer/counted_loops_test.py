#!/usr/bin/env python3
"""gdb in a recording of a counted loop (recorder/core/code/counted_loops.h): gdb stops where the thread was, steps go
to the next line and the next instruction, the code looks as compiled, and the replay continues to its end.

    counted_loops_test.py REWEAVE PROGRAM (gdb_counted.c)
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

REWEAVE, PROGRAM = sys.argv[1:3]
LIMIT = 600  # seconds


def reweave(*arguments):
    return subprocess.run([REWEAVE, *arguments], capture_output=True, text=True, timeout=LIMIT, check=False,
                          stdin=subprocess.DEVNULL)


class CountedLoopsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="reweave-counted-")
        cls.recording = cls.folder.name + "/recording"
        recorded = reweave("record", "-o", cls.recording, "--", PROGRAM)
        assert recorded.returncode == 0, recorded.stderr
        cls.looks = [int(line) for line in recorded.stdout.split("\n")[:-2]]
        cls.dump = reweave("dump", cls.recording).stdout
        counted = re.search(r"counts at (0x[0-9a-f]+)", cls.dump)
        cls.place = int(counted[1], 16)
        # After an event "switch to t1, preempted" the loop runs. If t1 wakes up then, it is about to look. On a busy
        # machine t1 may also be interrupted between two looks.
        found = re.findall(r"^(\d+) t0 switch to t1, preempted.*\n\d+ t1 call clock_nanosleep", cls.dump[counted.end():], re.M)
        cls.switches = [int(event) for event in found]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def gdb(self, event, *commands, backward=False):
        result = reweave("replay", "--quiet", "-g", str(event), *["--backward"] * backward, "--gdb-batch",
                         ";".join(commands), self.recording)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertNotRegex(result.stdout + result.stderr, "Divergence|Traceback|Python Exception|internal-error")
        return result.stdout

    def values(self, output):
        return [int(value) for value in re.findall(r"\$\d+ = (\d+)", output)]

    def test_there_are_counted_switches(self):
        self.assertGreater(len(self.switches), 3, self.dump)

    def test_events_are_where_the_thread_was(self):
        for event in self.switches[1::3]:
            seen, = self.values(self.gdb(event + 1, "print progress"))
            self.assertIn(seen, self.looks)

    def test_next_goes_to_the_next_line(self):
        out = self.gdb(self.switches[2], "break gdb_counted.c:27", "continue", "print progress", "delete", "next", "next", "next",
                       "print progress", "next", "next", "next", "print progress")
        lines = [int(line) for line in re.findall(r"^(\d+)\t", out, re.M)]
        self.assertEqual(lines[-7:], [27, 25, 26, 27, 25, 26, 27], out)
        first, second, third = self.values(out)
        self.assertEqual([second, third], [first + 1, first + 2], out)

    def test_backward(self):
        """Going backward takes no longer than replaying, and leaves the code as it was compiled."""
        places = ["reverse-continue", "print progress", "info line"]
        out = self.gdb("end", "break gdb_counted.c:16", *places * 3, "disassemble compute", "next", "next", "print progress",
                       backward=True)
        values = self.values(out)
        for value, before, look in zip(values, self.looks[-2:-5:-1], self.looks[:-4:-1]):
            self.assertTrue(before < value <= look, out)
        self.assertEqual(values[3], values[2], out)
        self.assertEqual(re.findall(r"Line (\d+) of", out), ["16"] * 3, out)
        compiled = self.gdb(1, "disassemble compute")
        code = r"<\+\d+>:\s+(.*)"
        self.assertEqual(re.findall(code, out), re.findall(code, compiled))

    def test_a_killed_gdb_leaves_no_replay(self):
        """gdb is killed during a motion that takes long, because each iteration writes to the watched page."""
        def words_of(process):
            try:
                return process.read_bytes()
            except OSError:  # it has ended
                return b""

        def replays():
            listed = [words_of(process) for process in pathlib.Path("/proc").glob("[0-9]*/cmdline")]
            return [words for words in listed if self.recording.encode() in words and b"--hold-fd" in words]

        def wait_until(condition):
            until = time.monotonic() + LIMIT
            while not condition():
                self.assertLess(time.monotonic(), until)
                time.sleep(0.05)

        gdb = subprocess.Popen([REWEAVE, "replay", "--quiet", "-g", "end", "--backward", self.recording, "--gdb-batch",
                                "watch done;reverse-continue"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        wait_until(lambda: len(replays()) >= 2)
        time.sleep(1)  # probably it is on its way now; if not, there is less to find
        gdb.kill()
        gdb.wait(LIMIT)
        wait_until(lambda: not replays())

    def test_stepi_goes_through_the_code_as_it_was_compiled(self):
        code = self.gdb(1, "disassemble compute")
        compiled = {int(place, 16): text.split("#")[0].strip()
                    for place, text in re.findall(r"(0x[0-9a-f]+) <\+\d+>:\s+(.*)", code)}
        self.assertIn(self.place, compiled)
        steps = [command for _ in range(40) for command in ("x/i $pc", "stepi")]
        out = self.gdb(self.switches[2], "break gdb_counted.c:27", "continue", "delete", *steps)
        passed = [(int(place, 16), text.split("#")[0].strip())
                  for place, text in re.findall(r"=> (0x[0-9a-f]+) <compute\+\d+>:\s+(.*)", out)]
        self.assertEqual(len(passed), 40, out)
        for place, text in passed:
            self.assertEqual(text, compiled[place], out)
        self.assertGreater([place for place, _ in passed].count(self.place), 1, out)

    def test_a_breakpoint_at_the_counted_instruction_counts_once(self):
        stops = ["continue", "print progress"] * 5
        out = self.gdb(self.switches[3], "break *%#x" % self.place, *stops, "delete", "continue")
        seen = self.values(out)
        self.assertEqual(seen[1:], [seen[1] + i for i in range(4)], out)
        self.assertIn("exited normally", out)

    def test_other_breakpoints_and_steps_of_the_other_thread(self):
        out = self.gdb(self.switches[1], "break gdb_counted.c:17", "continue", "print progress", "continue", "print progress",
                       "delete", "next", "next", "next", "next", "print progress", "continue")
        for seen in self.values(out):
            self.assertIn(seen, self.looks, out)
        self.assertIn("exited normally", out)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
