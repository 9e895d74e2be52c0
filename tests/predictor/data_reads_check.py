#!/usr/bin/env python3
"""A race that is possible only if the value that a thread read before it decides nothing (data_reads.c). `predict` must
find it without an assumption where the machine code shows that, but not where the program looks at the value, then or
later. `explore` must be able to follow the prediction."""
import json
import re

from program_case import ProgramCase

MOST_RECORDINGS = 200
LEVELS = ("-O0", "-O2")
DATA, DECIDING = ("counts", "copies", "keeps"), ("branches", "indexes", "prints", "kept", "copied")


class DataReads(ProgramCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.programs = {"gcc" + level: cls.built("data_reads.c", level) for level in LEVELS}

    def recorded(self, name, way):
        """Records with different seeds until the first thread's section comes first. Returns the recording."""
        for seed in range(1, MOST_RECORDINGS):
            recording = self.folder / f"{name}-{way}-{seed}"
            if "came first" not in self.reweave("record", "--seed", seed, "-o", recording, "--", self.programs[name], way):
                return recording
        raise AssertionError("the second section always comes first")

    def predicted(self, name, way):
        """Returns a recording, its predicted races of `shared` without assumptions, and its counts of reads."""
        recording = self.recorded(name, way)
        result = json.loads(self.reweave("predict", recording, "--format=json", "-o", f"{name}-{way}.candidates"))
        races = [finding for finding in result["findings"]
                 if finding["kind"] == "race" and "shared" in finding["summary"] and not finding["assumptions"]]
        return recording, races, result["reads"]

    def test_data(self):
        for name in self.programs:
            for way in DATA:
                with self.subTest(build=name, way=way):
                    _, races, reads = self.predicted(name, way)
                    self.assertEqual(len(races), 1, races)
                    self.assertGreater(reads["eventsThatDecideNothing"], 0)
                    self.assertLess(reads["eventsThatDecideNothing"], reads["events"])
                    self.assertLess(reads["placesThatDecideNothing"], reads["places"])

    def test_deciding(self):
        for name in self.programs:
            for way in DECIDING:
                with self.subTest(build=name, way=way):
                    self.assertEqual(self.predicted(name, way)[1], [])

    def test_followed(self):
        """The program can execute the predicted schedules."""
        recording, _, _ = self.predicted("gcc-O2", "counts")
        text = self.reweave("explore", recording, "--candidates", "gcc-O2-counts.candidates", "--strategy", "witness",
                            "-o", "found")
        verdicts = re.findall(r"^candidate \d+ .*", text, re.M)
        self.assertTrue(verdicts, text)
        self.assertTrue(all("was followed to the end" in line for line in verdicts), text)

    def test_as_text(self):
        """Exported text also distinguishes the reads."""
        recording, _, _ = self.predicted("gcc-O2", "copies")
        self.reweave("trace", recording, "--export=std", "-o", "copies.std")
        words = {line.split("|")[1].split("(")[0] for line in (self.folder / "copies.std").read_text().splitlines()}
        self.assertLessEqual({"rd", "wd", "r", "w"}, words)
        again = json.loads(self.reweave("predict", "copies.std", "--format=json"))
        self.assertGreater(again["reads"]["eventsThatDecideNothing"], 0)
        self.assertIn("race", [finding["kind"] for finding in again["findings"] if not finding["assumptions"]])

    def test_without_the_program(self):
        """If the program file was replaced, all reads count as deciding."""
        recording, races, _ = self.predicted("gcc-O2", "copies")
        self.assertEqual(len(races), 1)
        program = self.programs["gcc-O2"]
        kept = program.read_bytes()
        try:
            program.unlink()
            program.write_bytes(self.programs["gcc-O0"].read_bytes())
            result = json.loads(self.reweave("predict", recording / "trace.rwt", "--format=json"))
        finally:
            program.write_bytes(kept)
            program.chmod(0o755)
        self.assertEqual(result["reads"]["placesThatDecideNothing"], 0)


if __name__ == "__main__":
    DataReads.main()
