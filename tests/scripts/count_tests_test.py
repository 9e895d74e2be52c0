#!/usr/bin/env python3
"""scripts/count_tests.py: every way of printing results is counted, and a crash never counts as all passed."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"))
import count_tests  # noqa: E402


def count(result, stdout="", stderr=""):
    return count_tests.count({"result": result, "stdout": stdout, "stderr": stderr})


class CountTests(unittest.TestCase):
    def test_single(self):
        self.assertEqual(count("OK", "hello\n"), (1, 0))
        self.assertEqual(count("FAIL"), (0, 1))
        self.assertEqual(count("TIMEOUT"), (0, 1))

    def test_boost(self):
        good = "Running 5 test cases...\n\n*** No errors detected\n"
        self.assertEqual(count("OK", good), (5, 0))
        bad = ('Running 5 test cases...\na.cc(7): error: in "reads_back": check failed\na.cc(9): error: in "reads_back": '
               'again\na.cc(20): fatal error: in "suite/cut": boom\n*** 3 failures are detected\n')
        self.assertEqual(count("FAIL", stderr=bad), (3, 2))
        self.assertEqual(count("FAIL", "Running 5 test cases...\n"), (4, 1))
        self.assertEqual(count("OK", "Running 1 test case...\n"), (1, 0))

    def test_unittest(self):
        self.assertEqual(count("OK", stderr="...\nRan 3 tests in 0.1s\n\nOK\n"), (3, 0))
        self.assertEqual(count("FAIL", stderr="Ran 9 tests in 0.1s\n\nFAILED (failures=1, errors=2)\n"), (6, 3))

    def test_tap(self):
        self.assertEqual(count("FAIL", "1..3\nok 1 - a\nnot ok 2 - b\nok 3\n"), (2, 1))

    def test_summary_line(self):
        self.assertEqual(count("FAIL", "1 passed, 0 failed\n40 passed, 2 failed\n"), (40, 2))
        self.assertEqual(count("FAIL", "40 passed, 0 failed\n"), (39, 1))


if __name__ == "__main__":
    unittest.main()
