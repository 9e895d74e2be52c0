#!/usr/bin/env python3
"""Memory that the C library reads and writes for its caller counts as accessed. A use after free there is predicted and
found. A program that uses its blocks up to their ends, and no further, gets no report.

    library_accesses_check.py REWEAVE FREED_IN_LIBRARY TO_THEIR_ENDS
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

REWEAVE = FREED = ENDS = None
RUNS = "20"

class LibraryAccesses(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def reweave(self, *arguments):
        return subprocess.run([REWEAVE, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=600, errors="replace")

    def record(self, use, seed):
        """Records this use and checks the replay. The seed decides the order of use and free. Returns the recording."""
        recording = f"{use}.{seed}"
        recorded = self.reweave("record", "--seed", str(seed), "-o", recording, "--", FREED, use)
        replayed = self.reweave("replay", recording)
        self.assertEqual((replayed.returncode, replayed.stdout), (recorded.returncode, recorded.stdout), replayed.stderr)
        return recording

    def is_predicted(self, recording):
        traced = self.reweave("trace", recording, "-o", recording + ".trace")
        self.assertEqual(traced.returncode, 0, traced.stderr)
        return "order use-after-free" in self.reweave("predict", recording + ".trace").stdout

    def test_freed(self):
        uses = subprocess.run([FREED], check=True, capture_output=True, text=True).stdout.split()
        self.assertGreater(len(uses), 30)
        predicted = 0
        for use in uses:
            with self.subTest(use):
                recording = next(filter(self.is_predicted, (self.record(use, seed) for seed in range(1, 11))), None)
                predicted += recording is not None
                recording = recording or f"{use}.1"
                explored = self.reweave("explore", recording, "--runs", RUNS, "-o", recording + ".found")
                self.assertIn(": use after free of the block of ", explored.stdout, explored.stderr)
                self.assertIn("replays failed the same way", explored.stdout)

        # The other uses appear only in recorded orders from which nothing can be predicted.
        self.assertGreater(predicted, 2 * len(uses) // 3)

    def test_not_accused(self):
        for name, arguments in (("whole", []), ("ends", ["streams"])):
            recorded = self.reweave("record", "-o", name, "--", ENDS, *arguments)
            self.assertEqual(recorded.returncode, 0, recorded.stderr)
        explored = self.reweave("explore", "ends", "--runs", RUNS, "-o", "found")
        self.assertIn(" 0 distinct failures", explored.stdout, explored.stderr)
        self.assertNotIn("these runs show nothing", explored.stdout)


if __name__ == "__main__":
    REWEAVE, FREED, ENDS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
