#!/usr/bin/env python3
"""Correct programs (quiet.c) have hardly any findings worth reading. Low-ranked ones say why, in text and in JSON."""
import json

from program_case import ProgramCase

# Kinds with findings that rank high: another thread sees the flag of a hand-made lock between its two writes, as it
# should, but no analysis can tell whether that was intended.
ABOVE = {"reader-writer": 1}


class Quiet(ProgramCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = cls.built("quiet.c")

    def test_every_kind(self):
        kinds = self.run_it(self.program).split()
        self.assertGreater(len(kinds), 12)
        for kind in kinds:
            for seed in ("1", "2"):
                with self.subTest(kind=kind, seed=seed):
                    recording = self.folder / (kind + seed)
                    self.reweave("record", "--seed", seed, "-o", recording, "--", self.program, kind)
                    self.check_findings(kind, recording)

    def check_findings(self, kind, recording):
        findings = json.loads(self.reweave("predict", recording, "--format=json"))["findings"]
        text = self.reweave("predict", recording)
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
