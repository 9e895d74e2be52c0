#!/usr/bin/env python3
"""A race that is possible only because two writes store the same value (equal_values.c). `predict` must find it where
the values are equal and known, and nowhere else. `explore` must be able to follow the prediction."""
import json
import re

from program_case import ProgramCase

MOST_RECORDINGS = 200
EQUAL, OTHER = ("atomic", "locked", "wide", "threads"), ("differs", "pointer")


class EqualValues(ProgramCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = cls.built("equal_values.c")

    def recorded(self, way):
        """Records with different seeds until the reader uses the data. Returns the recording."""
        for seed in range(1, MOST_RECORDINGS):
            recording = self.folder / f"{way}-{seed}"
            if "used 7" in self.reweave("record", "--seed", seed, "-o", recording, "--", self.program, way):
                return recording
        raise AssertionError("the reader never comes last")

    def predicted(self, way):
        recording = self.recorded(way)
        result = json.loads(self.reweave("predict", recording, "--format=json", "-o", f"{way}.candidates"))
        return recording, [finding for finding in result["findings"] if "data" in finding["summary"]]

    def test_equal(self):
        for way in EQUAL:
            with self.subTest(way=way):
                _, found = self.predicted(way)
                self.assertIn("race", [finding["kind"] for finding in found])
                self.assertEqual([finding["assumptions"] for finding in found if finding["assumptions"]], [])

    def test_other(self):
        for way in OTHER:
            with self.subTest(way=way):
                self.assertEqual(self.predicted(way)[1], [])

    def test_followed(self):
        """The program can execute the predicted schedules of races."""
        for way in EQUAL:
            with self.subTest(way=way):
                recording, _ = self.predicted(way)
                text = self.reweave("explore", recording, "--candidates", f"{way}.candidates", "--strategy", "witness",
                                    "-o", f"found-{way}")
                verdicts = re.findall(r"^candidate \d+ \(race\).*", text, re.M)
                self.assertTrue(verdicts, text)
                self.assertTrue(all("was followed to the end" in line for line in verdicts), text)

    def test_dump(self):
        """Values that are small stand for themselves."""
        self.reweave("trace", self.recorded("locked"), "-o", "t.rwt")
        text = self.reweave("dump", "t.rwt")
        self.assertRegex(text, r"write \S+ extra 0x4 aux 0 value 0x0 at")
        self.assertRegex(text, r"read \S+ extra 0x4 aux 0 value 0x1 at")


if __name__ == "__main__":
    EqualValues.main()
