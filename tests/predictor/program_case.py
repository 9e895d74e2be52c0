"""The common parts of cases about a program of this folder that is built with -fsanitize=thread."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "end_to_end"))
from scratch_case import ScratchCase  # noqa: E402

LIMIT_SECONDS = 600
MOST_RECORDINGS = 200


class ProgramCase(ScratchCase):
    @classmethod
    def setUpClass(cls):
        kept = tempfile.TemporaryDirectory(prefix="reweave-programs-")
        cls.addClassCleanup(kept.cleanup)
        cls.kept = pathlib.Path(kept.name)

    @classmethod
    def built(cls, source, level="-O1"):
        """Compiles a source file of this folder, for all tests of the class. Returns the path of the program."""
        program = cls.kept / (pathlib.Path(source).stem + level)
        subprocess.run(["gcc", "-g", level, "-fsanitize=thread", "-pthread", HERE / source, "-o", program], check=True,
                       timeout=LIMIT_SECONDS)
        return program

    def run_it(self, *command):
        """Runs a command, which must end with 0. Returns its standard output."""
        command = [str(part) for part in command]
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT_SECONDS, check=False)
        self.assertEqual(done.returncode, 0, (command, done.stdout, done.stderr))
        return done.stdout

    def reweave(self, *arguments):
        return self.run_it(self.build / "reweave", *arguments)


class ReorderedCase(ProgramCase):
    """Cases about `source`, built with and without optimisation: whether the parts of its two threads (two_threads.h) may
    change places, so that their writes of `shared` race, depends on the program's argument."""
    source = ""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.programs = {"gcc" + level: cls.built(cls.source, level) for level in ("-O0", "-O2")}

    def recorded(self, name, way):
        """Records with different seeds until the first thread comes first. Returns the recording."""
        for seed in range(1, MOST_RECORDINGS):
            recording = self.folder / f"{name}-{way}-{seed}"
            if "came first" not in self.reweave("record", "--seed", seed, "-o", recording, "--", self.programs[name], way):
                return recording
        raise AssertionError("the second thread always comes first")

    def predicted(self, name, way):
        """Returns a recording, its predicted races of `shared` without assumptions, and its counts of reads."""
        recording = self.recorded(name, way)
        result = json.loads(self.reweave("predict", recording, "--format=json", "-o", f"{name}-{way}.candidates"))
        races = [finding for finding in result["findings"]
                 if finding["kind"] == "race" and "shared" in finding["summary"] and not finding["assumptions"]]
        return recording, races, result["reads"]

    def check_silent(self, ways):
        """No race is predicted."""
        for name in self.programs:
            for way in ways:
                with self.subTest(build=name, way=way):
                    self.assertEqual(self.predicted(name, way)[1], [])

    def check_followed(self, name, way):
        """The program can execute the predicted schedules."""
        recording, _, _ = self.predicted(name, way)
        text = self.reweave("explore", recording, "--candidates", f"{name}-{way}.candidates", "--strategy", "witness",
                            "-o", "found")
        verdicts = re.findall(r"^candidate \d+ .*", text, re.M)
        self.assertTrue(verdicts, text)
        self.assertTrue(all("was followed to the end" in line for line in verdicts), text)
