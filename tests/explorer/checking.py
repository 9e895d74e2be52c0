"""The common parts of the checks of this folder: they run a build's reweave on its test programs and judge its output."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile


LONG = os.environ.get("REWEAVE_SOAK") == "1"  # the caller is scripts/soak, which may take hours


def subjects(whole, *short):
    """Returns the programs to check: `short` in continuous integration, all of `whole` if the test may take long."""
    unknown = set(short) - set(whole)
    assert not unknown, unknown
    return [name for name in whole if LONG or name in short]


class Checked:
    """A build, and a temporary folder."""

    def __init__(self, build, folder):
        self.build, self.folder = build, folder

    def program(self, name, kind="tsan"):
        """Returns the path of a program of tests/programs."""
        return self.build / "tests" / "programs" / kind / (f"{name}.tsan" if kind == "tsan" else name)

    def reweave(self, *arguments, accept=(0,), seconds=1500):
        """Returns the output of the command, errors last; ends the check if its status is not in `accept`."""
        command = [str(self.build / "reweave"), *map(str, arguments)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds)
        if done.returncode not in accept:
            sys.exit(f"status {done.returncode} of {' '.join(command)}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr


def demand(condition, what, text):
    """Unless `condition` is true, ends the check and prints what is wrong and the text that shows it."""
    if not condition:
        sys.exit(f"{what}:\n{text}")


def failing(at, name, program=None):
    """Returns a failing recording of `program`, or of the subject program `name`, found from a passing recording."""
    passing, found = at.folder / name, at.folder / f"{name}.found"
    for seed in range(1, 51):
        at.reweave("record", "--seed", seed, "-o", passing, "--", program or at.program(name), accept=range(256))
        if json.loads(at.reweave("traceinfo", passing))["outcome"] == "passed":
            break
        subprocess.run(["rm", "-r", passing], check=True)
    at.reweave("explore", passing, "--first", "--verify", "1", "-o", found, accept=(10,))
    return found / "failure-1"


def main(check, description):
    """Calls check(Checked) for the build that the command line names."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="reweave-check-") as folder:
        check(Checked(arguments.build.resolve(), pathlib.Path(folder)))
    return 0
