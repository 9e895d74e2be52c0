"""The common parts of cases about a program of this folder that is built with -fsanitize=thread."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "end_to_end"))
from scratch_case import ScratchCase  # noqa: E402

LIMIT_SECONDS = 600


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
