#!/usr/bin/env python3
"""Correct programs (quiet.c) have hardly any findings worth reading. Low-ranked ones say why, in text and in JSON."""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "end_to_end"))
from scratch_case import ScratchCase  # noqa: E402

LIMIT_SECONDS = 600
# Kinds with findings that rank high: another thread sees the flag of a hand-made lock between its two writes, as it
# should, but no analysis can tell whether that was intended.
ABOVE = {"reader-writer": 1}


class Quiet(ScratchCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory(prefix="reweave-quiet-")
        cls.program = pathlib.Path(cls.kept.name) / "quiet"
        subprocess.run(["cc", "-g", "-O1", "-fsanitize=thread", "-pthread", HERE / "quiet.c", "-o", cls.program],
                       check=True, timeout=LIMIT_SECONDS)

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def run_it(self, *command):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_SECONDS,
                              check=False)
        self.assertEqual(done.returncode, 0, (command, done.stdout, done.stderr))
        return done.stdout

    def test_every_kind(self):
        kinds = self.run_it(self.program).split()
        self.assertGreater(len(kinds), 12)
        for kind in kinds:
            for seed in ("1", "2"):
                with self.subTest(kind=kind, seed=seed):
                    recording = self.folder / (kind + seed)
                    self.run_it(self.build / "reweave", "record", "--seed", seed, "-o", recording, "--", self.program, kind)
                    self.check_findings(kind, recording)

    def check_findings(self, kind, recording):
        findings = json.loads(self.run_it(self.build / "reweave", "predict", recording, "--format=json"))["findings"]
        text = self.run_it(self.build / "reweave", "predict", recording)
        above = [(finding["kind"], finding["pattern"], finding["summary"]) for finding in findings
                 if finding["worthReading"]]
        self.assertLessEqual(len(above), ABOVE.get(kind, 0), above)
        for finding in findings:
            reasons = [remark for remark in finding["remarks"] if remark.startswith("Ranks low: ")]
            if not finding["worthReading"]:
                self.assertTrue(reasons, finding["summary"])
            for reason in reasons:
                self.assertIn(reason, text)


if __name__ == "__main__":
    Quiet.main()
