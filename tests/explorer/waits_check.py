#!/usr/bin/env python3
"""Correct waits of every kind, and reads of files in another order: no explored run fails, and few leave the recording.
"""
import os
import re
import subprocess
import sys

from checking import demand, main

# Waits that explored runs cannot follow yet: these runs leave the recording with such a message, and do not fail.
LEAVE = {
    "sendfiles": "not all of them were read when the program was recorded",
    "tmps": "no answer to system call (openat|rename) ",  # the recorded order decides which call
}


def check(at):
    program = at.program("waits_of_kinds")
    os.chdir(at.folder)
    (at.folder / "A.txt").write_text("A" * 10)
    (at.folder / "B.txt").write_text("B" * 5000)
    for name in subprocess.run([program], capture_output=True, text=True, check=True).stdout.split():
        at.reweave("record", "--seed", "1", "-o", f"{name}.good", "--", program, name)
        text = at.reweave("explore", f"{name}.good", "--runs", "30", "-o", f"{name}.found", accept=range(256))
        demand(re.search(r"\b0 distinct failures", text), f"{name}: a correct program failed", text)
        left = int(re.search(r"(\d+) left the recording", text)[1])
        demand(left == 0 or re.search(LEAVE.get(name, "$^"), text), f"{name}: runs left the recording", text)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
