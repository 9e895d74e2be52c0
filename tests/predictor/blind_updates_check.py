#!/usr/bin/env python3
"""A race that is possible only if nobody looks at the old value of an atomic update (blind_updates.c). `predict` must find
it without an assumption where the machine code shows that, but not where the program uses the old value, or reads the
counter before the race. `explore` must be able to follow the prediction."""
import json

from program_case import ReorderedCase

BLIND, DECIDING = ("adds", "bit"), ("branches", "keeps", "later")


class BlindUpdates(ReorderedCase):
    source = "blind_updates.c"

    def test_blind(self):
        for name in self.programs:
            for way in BLIND:
                with self.subTest(build=name, way=way):
                    self.assertEqual(len(self.predicted(name, way)[1]), 1)

    def test_deciding(self):
        self.check_silent(DECIDING)

    def test_followed(self):
        self.check_followed("gcc-O2", "adds")

    def test_as_text(self):
        """Exported text distinguishes these updates."""
        recording = self.recorded("gcc-O2", "adds")
        self.reweave("trace", recording, "--export=std", "-o", "adds.std")
        self.assertIn("|aud(", (self.folder / "adds.std").read_text())
        again = json.loads(self.reweave("predict", "adds.std", "--format=json"))
        self.assertIn("race", [finding["kind"] for finding in again["findings"] if not finding["assumptions"]])


if __name__ == "__main__":
    BlindUpdates.main()
