#!/usr/bin/env python3
"""scripts/count_tests.py on logs of `meson test`: what passes, fails and is skipped, and the exit status."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "count_tests.py"


def entry(result, stdout="", name="one"):
    return {"name": name, "result": result, "duration": 0.5, "stdout": stdout, "stderr": ""}


class CountTests(unittest.TestCase):
    def count(self, *entries):
        """(exit status, lines printed) of the script on a log with these entries."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as log:
            log.writelines(json.dumps(one) + "\n" for one in entries)
            log.flush()
            run = subprocess.run([sys.executable, SCRIPT, log.name], capture_output=True, text=True, timeout=60)
        return run.returncode, run.stdout.splitlines()

    def test_formats(self):
        boost = "Running 3 test cases...\na.cc(1): error: in \"suite/case\": no\n"
        for result, output, counted in (("OK", "anything", "1 passed, 0 failed"), ("FAIL", "", "0 passed, 1 failed"),
                                        ("OK", "Running 3 test cases...\n", "3 passed, 0 failed"),
                                        ("FAIL", boost, "2 passed, 1 failed"),
                                        ("TIMEOUT", "Running 3 test cases...\n", "2 passed, 1 failed"),
                                        ("FAIL", "Ran 4 tests in 1s\nFAILED (failures=1)\n", "3 passed, 1 failed"),
                                        ("OK", "7 passed, 0 failed\n", "7 passed, 0 failed")):
            status, lines = self.count(entry(result, output))
            self.assertEqual(lines[-1], counted, output)
            self.assertEqual(status, 0 if counted.endswith(" 0 failed") else 1, output)

    def test_skipped_is_named_and_no_failure(self):
        status, lines = self.count(entry("OK"), entry("SKIP", "skipped: no cluster\n", "slurm"))
        self.assertEqual((status, lines), (0, ["---- slurm: skipped: no cluster", "1 passed, 0 failed"]))

    def test_nothing_ran(self):
        self.assertEqual(self.count(entry("SKIP", "skipped: no cluster\n"))[0], 1)
        self.assertEqual(self.count()[0], 1)


if __name__ == "__main__":
    unittest.main()
