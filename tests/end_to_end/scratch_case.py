"""The common parts of unittest cases that check a build."""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest


class ScratchCase(unittest.TestCase):
    """Has a build, and for each test a temporary folder with a path for a recording."""
    build = pathlib.Path()

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="reweave-check-")
        self.folder = pathlib.Path(self.temporary.name)
        self.recording = self.folder / "recording"

    def tearDown(self):
        self.temporary.cleanup()

    def compiled(self, name, source, *flags):
        """Compiles this C source text. Returns the path of the result."""
        path = self.folder / name
        subprocess.run(["cc", "-x", "c", "-", *flags, "-o", path], input=source, text=True, check=True, timeout=600)
        return path

    @classmethod
    def main(cls):
        """Runs the tests against --build; other arguments are unittest's."""
        parser = argparse.ArgumentParser(description=sys.modules[cls.__module__].__doc__)
        parser.add_argument("--build", type=pathlib.Path, required=True)
        options, rest = parser.parse_known_args()
        cls.build = options.build.resolve()
        unittest.main(argv=[sys.argv[0], *rest])
