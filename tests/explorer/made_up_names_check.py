#!/usr/bin/env python3
"""Files whose names differ from run to run. An explored run uses the recorded files under its own names, never confuses
them, and neither fails nor leaves the recording. Without Reweave the program also passes.
"""
import os
import re
import subprocess
import sys

from checking import demand, main

DRAWN = ("drawn", "tail", "head")
CASES = [(kind, prefix) for kind in (*DRAWN, "mkstemp", "mkdtemp") for prefix in ("tmp", "tm-", "d/a.", "")]
CASES += [("time", "log-"), ("time", "d/"), ("stamp", "x"), ("stamp", "core.")]


def check(at):
    program = at.program("made_up_names")
    os.chdir(at.folder)
    (at.folder / "d").mkdir()
    for number, arguments in enumerate(CASES):
        subprocess.run([program, *arguments], check=True, stdout=subprocess.DEVNULL, timeout=600)
        at.reweave("record", "--seed", "1", "-o", f"{number}.good", "--", program, *arguments)
        text = at.reweave("explore", f"{number}.good", "--runs", "100", "-o", f"{number}.found", accept=range(256))
        demand(re.search(r"\b0 left the recording, 0 distinct failures", text), f"{arguments}: not as recorded", text)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
