#!/usr/bin/env python3
"""Calls that only a failing run makes, for its report, do not make it leave the recording."""
import pathlib
import subprocess
import sys

from checking import demand, main, subjects

SOURCE = pathlib.Path(__file__).with_name("first_calls.c")


def check(at):
    program = at.folder / "first_calls"
    subprocess.run(["cc", "-g", "-w", "-O1", "-fsanitize=thread", "-pthread", SOURCE, "-o", program], check=True,
                   timeout=600)
    names = subprocess.run([program], check=True, capture_output=True, text=True, timeout=600).stdout.split()
    demand(len(names) > 50, "the program has another list", names)
    for name in subjects(names, *names[::4]):
        recording, found = at.folder / f"{name}.run", at.folder / f"{name}.found"
        at.reweave("record", "--seed", 1, "-o", recording, "--", program, name)
        text = at.reweave("explore", recording, "--first", "--runs", 30, "--verify", 2, "-o", found, accept=(10,))
        demand("failure-1: exit status 3" in text and "2 of 2 replays" in text, f"{name}: the failure is another", text)
    made = [path.name for path in at.folder.iterdir() if path.name == "report.log"]
    demand(not made and not pathlib.Path("report.log").exists(), "an explored run has written a file", made)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
