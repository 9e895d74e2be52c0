#!/usr/bin/env python3
"""A race that is possible only if the value that a thread read before it decides nothing (data_reads.c). `predict` must
find it without an assumption where the machine code shows that, but not where the program looks at the value, then or
later. `explore` must be able to follow the prediction."""
import json

from program_case import ReorderedCase

DATA, DECIDING = ("counts", "copies", "keeps"), ("branches", "indexes", "prints", "kept", "copied")


class DataReads(ReorderedCase):
    source = "data_reads.c"

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
        self.check_silent(DECIDING)

    def test_followed(self):
        self.check_followed("gcc-O2", "counts")

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
