#!/usr/bin/env python3
"""scripts/run_tests.py: chance failures are distinguished from defects, and neither is hidden."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "run_tests.py"
# Stands in for meson: writes a log with the next planned result of each requested test.
MESON = """#!/usr/bin/env python3
import json, pathlib, sys
build = pathlib.Path(sys.argv[sys.argv.index("-C") + 1])
plan = json.loads((build / "plan.json").read_text())
count = int(sys.argv[sys.argv.index("--repeat") + 1]) if "--repeat" in sys.argv else 1
names = [name for name in plan if "--repeat" not in sys.argv or name.split(" / ")[1] == sys.argv[-1]]
log = build / "meson-logs"
log.mkdir(exist_ok=True)
with open(log / "testlog.json", "w") as out:
    for name in names:
        for _ in range(count):
            result, text = plan[name].pop(0)
            out.write(json.dumps({"name": name, "result": result, "duration": 1, "stdout": text, "stderr": ""}) + "\\n")
(build / "plan.json").write_text(json.dumps(plan))
"""
OK, FAIL, TIMEOUT = ("OK", ""), ("FAIL", "first log"), ("TIMEOUT", "first log")


class RunTests(unittest.TestCase):
    def run_plan(self, plan):
        """Returns (exit status, lines printed) if the tests have these results, one after the other."""
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            meson = build / "meson"
            meson.write_text(MESON)
            meson.chmod(0o755)
            (build / "plan.json").write_text(json.dumps({f"suite / {name}": results for name, results in plan.items()}))
            done = subprocess.run([sys.executable, SCRIPT, build], capture_output=True, text=True, timeout=60, check=False,
                                  env={**os.environ, "REWEAVE_MESON": str(meson)})
        self.assertEqual(done.stderr, "" if plan else "no tests were run\n")
        return done.returncode, done.stdout.splitlines()

    def test_all_pass(self):
        status, lines = self.run_plan({"a": [OK], "b": [("OK", "Ran 4 tests in 1s\n")]})
        self.assertEqual((status, lines), (0, ["5 passed, 0 failed"]))

    def test_unstable_is_named_and_passes(self):
        for first in (FAIL, TIMEOUT):
            status, lines = self.run_plan({"a": [OK], "b": [first, OK, OK, OK]})
            self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed"))
            self.assertEqual(lines[1:4], ["unstable: 1", f"---- suite / b: {first[0]}, 1.0 s", "first log"])

    def test_fails_again(self):
        for again in ([FAIL, OK, OK], [OK, FAIL, OK], [OK, OK, FAIL]):
            status, lines = self.run_plan({"a": [FAIL, *again]})
            self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed"))
            self.assertNotIn("unstable: 1", lines)

    def test_a_defect_once_is_a_failure(self):
        for text in ("reweave: Divergence: thread 1", "internal error: x", "exit status 70 of y",
                     "WARNING: ThreadSanitizer: data race", "a.cc:3: runtime error: overflow", "==1==ERROR: AddressSanitizer: x",
                     "the replay shows what was never there", "pool: a correct program failed"):
            status, lines = self.run_plan({"a": [("FAIL", text), OK, OK, OK], "b": [OK]})
            self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed"), text)

    def test_too_many_failures_are_no_chance(self):
        status, lines = self.run_plan({str(n): [FAIL, OK, OK, OK] for n in range(6)})
        self.assertEqual((status, lines[-1]), (1, "0 passed, 6 failed"))
        status, lines = self.run_plan({str(n): [FAIL, OK, OK, OK] for n in range(5)})
        self.assertEqual((status, lines[-1]), (0, "5 passed, 0 failed"))

    def test_skipped_is_named_and_no_failure(self):
        status, lines = self.run_plan({"a": [OK], "slurm": [("SKIP", "skipped: no cluster\n")]})
        self.assertEqual((status, lines), (0, ["---- suite / slurm: skipped: no cluster", "1 passed, 0 failed"]))
        self.assertEqual(self.run_plan({"slurm": [("SKIP", "skipped: no cluster\n")]})[0], 1)

    def test_nothing_ran(self):
        self.assertEqual(self.run_plan({}), (1, ["0 passed, 0 failed"]))


if __name__ == "__main__":
    unittest.main()
