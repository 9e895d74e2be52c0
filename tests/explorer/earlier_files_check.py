#!/usr/bin/env python3
"""Files that were opened before the runs begin can be read on, although the recorded run did not."""
import pathlib
import subprocess
import sys

from checking import demand, main

SOURCE = pathlib.Path(__file__).with_name("earlier_files.c")


def check(at):
    program, file, recording, found = (at.folder / name for name in ("earlier_files", "file", "run", "found"))
    subprocess.run(["cc", "-g", "-O1", "-fsanitize=thread", "-pthread", SOURCE, "-o", program], check=True, timeout=600)
    file.write_text("what the file says")
    at.reweave("record", "--seed", 1, "-o", recording, "--", program, file)
    text = at.reweave("explore", recording, "--fork-at", "race", "--runs", 30, "--verify", 2, "-o", found, accept=(10,))
    demand("0 left the recording, 1 distinct failure" in text and "failure-1: exit status 3" in text,
           "the file cannot be read on", text)
    # The runs from the log of a run know the file as well.
    again = at.reweave("explore", found / "failure-1", "--fork-at", "race", "--runs", 30, "--verify", 2, "-o",
                       at.folder / "again", "--expect-status", "0", accept=(10,))
    demand("0 left the recording, 1 distinct failure" in again and "failure-1: exit status 3" in again,
           "the file of the failing run cannot be read on", again)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
