#!/usr/bin/env python3
"""Files with names drawn from the time: whichever drawn characters happen to be the recorded ones, an explored run means
the recorded files, keeps those of two threads apart, and neither fails nor leaves the recording.
"""
import os
import re
import sys

from checking import demand, main

PREFIXES = ("tmp", "tm-", "d/a.", "")


def check(at):
    program = at.program("made_up_tail")
    os.chdir(at.folder)
    (at.folder / "d").mkdir()
    for number, arguments in enumerate([prefix, *which] for prefix in PREFIXES for which in ((), ("first",))):
        at.reweave("record", "--seed", "1", "-o", f"{number}.good", "--", program, *arguments)
        text = at.reweave("explore", f"{number}.good", "--runs", "100", "-o", f"{number}.found")
        demand(re.search(r"\b0 left the recording, 0 distinct failures", text), f"{arguments}: not as recorded", text)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
