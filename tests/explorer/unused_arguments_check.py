#!/usr/bin/env python3
"""Arguments that a system call does not look at are not compared: explored runs whose unused registers differ do not leave
the recording.
"""
import sys

from checking import demand, main


def check(at):
    recording = at.folder / "recording"
    at.reweave("record", "--seed", "1", "-o", recording, "--", at.program("unused_arguments"))
    text = at.reweave("explore", recording, "--runs", "100", "-o", at.folder / "found", accept=range(256))
    demand("100 runs" in text and " 0 left the recording, 0 distinct failures" in text, "runs left the recording", text)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
