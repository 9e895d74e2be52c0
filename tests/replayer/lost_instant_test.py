#!/usr/bin/env python3
"""lost_instant_test.py REWEAVE PROGRAM: the recording names an instant by the memory at that instant. A replay whose
memory differs ends with a Divergence that says where, instead of searching for the instant forever.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

DIVERGED = 3
LIMIT_SECONDS = 600
REWEAVE, PROGRAM = (str(pathlib.Path(argument).resolve()) for argument in sys.argv[1:3])


def address_of(symbol):
    """Returns the address of `symbol`, in a program that is loaded where it was linked."""
    for line in subprocess.run(["nm", PROGRAM], capture_output=True, text=True, check=True).stdout.splitlines():
        if line.endswith(" " + symbol):
            return int(line.split()[0], 16)
    raise AssertionError(f"no symbol {symbol}")


def running(parent):
    """Waits for a descendant of `parent` that has the program mapped. Returns its process ID."""
    limit = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < limit:
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and is_below(int(entry.name), parent) and PROGRAM in (entry / "maps").read_text():
                    return int(entry.name)
            except OSError:
                pass  # it has ended meanwhile
        time.sleep(0.01)
    raise AssertionError("the program does not start")


def is_below(pid, parent):
    while pid > 1 and pid != parent:
        pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid == parent


class LostInstant(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="reweave-check-")
        self.addCleanup(self.folder.cleanup)
        self.recording = str(pathlib.Path(self.folder.name) / "recording")
        done = subprocess.run([REWEAVE, "record", "-o", self.recording, "--", PROGRAM], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=LIMIT_SECONDS, check=False)
        self.assertEqual((done.returncode, len(done.stdout)), (0, 512 << 10), done.stderr)

    def replay(self, change):
        """Replays, and calls `change` while the program waits for its reader. Returns the status and the messages."""
        replay = subprocess.Popen([REWEAVE, "replay", self.recording], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE)
        try:
            replay.stdout.read(1)
            change(running(replay.pid))
            _, errors = replay.communicate(timeout=LIMIT_SECONDS)
        finally:
            replay.kill()
        return replay.returncode, errors.decode()

    def test_found_where_memory_is_equal(self):
        self.assertEqual(self.replay(lambda pid: None)[0], 0)

    def test_divergence_where_memory_differs(self):
        address = address_of("left_over")

        def change(pid):
            with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
                memory.seek(address)
                self.assertEqual(memory.read(8), b"as it is")
                memory.seek(address)
                memory.write(b"a")
                memory.seek(address + 1)
                memory.write(b"?")

        status, errors = self.replay(change)
        self.assertEqual(status, DIVERGED, errors)
        self.assertIn("Divergence", errors)
        self.assertIn("preempted at 0x", errors)
        self.assertIn(f"memory at {address & -os.sysconf('SC_PAGE_SIZE'):#x} differed", errors)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
