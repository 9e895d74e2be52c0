#!/usr/bin/env python3
"""A race that is possible only if nobody looks at the old value of an atomic update (blind_updates.c). `predict` must find
it without an assumption where the machine code shows that, but not where the program uses the old value, or reads the
counter before the race. `explore` must be able to follow the prediction."""
import json
import re

from program_case import ProgramCase

MOST_RECORDINGS = 200
LEVELS = ("-O0", "-O2")
BLIND, DECIDING = ("adds", "bit"), ("branches", "keeps", "later")


class BlindUpdates(ProgramCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.programs = {"gcc" + level: cls.built("blind_updates.c", level) for level in LEVELS}

    def recorded(self, name, way):
        """Records with different seeds until the first thread adds first. Returns the recording."""
        for seed in range(1, MOST_RECORDINGS):
            recording = self.folder / f"{name}-{way}-{seed}"
            if "came first" not in self.reweave("record", "--seed", seed, "-o", recording, "--", self.programs[name], way):
                return recording
        raise AssertionError("the second thread always comes first")

    def predicted(self, name, way):
        """Returns a recording and its predicted races of `shared` without assumptions."""
        recording = self.recorded(name, way)
        result = json.loads(self.reweave("predict", recording, "--format=json", "-o", f"{name}-{way}.candidates"))
        return recording, [finding for finding in result["findings"]
                           if finding["kind"] == "race" and "shared" in finding["summary"] and not finding["assumptions"]]

    def test_blind(self):
        for name in self.programs:
            for way in BLIND:
                with self.subTest(build=name, way=way):
                    self.assertEqual(len(self.predicted(name, way)[1]), 1)

    def test_deciding(self):
        for name in self.programs:
            for way in DECIDING:
                with self.subTest(build=name, way=way):
                    self.assertEqual(self.predicted(name, way)[1], [])

    def test_followed(self):
        """The program can execute the predicted schedules."""
        recording, _ = self.predicted("gcc-O2", "adds")
        text = self.reweave("explore", recording, "--candidates", "gcc-O2-adds.candidates", "--strategy", "witness",
                            "-o", "found")
        verdicts = re.findall(r"^candidate \d+ .*", text, re.M)
        self.assertTrue(verdicts, text)
        self.assertTrue(all("was followed to the end" in line for line in verdicts), text)

    def test_as_text(self):
        """Exported text distinguishes these updates."""
        recording, _ = self.predicted("gcc-O2", "adds")
        self.reweave("trace", recording, "--export=std", "-o", "adds.std")
        self.assertIn("|aud(", (self.folder / "adds.std").read_text())
        again = json.loads(self.reweave("predict", "adds.std", "--format=json"))
        self.assertIn("race", [finding["kind"] for finding in again["findings"] if not finding["assumptions"]])


if __name__ == "__main__":
    BlindUpdates.main()
