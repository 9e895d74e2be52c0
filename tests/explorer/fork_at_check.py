#!/usr/bin/env python3
"""Runs that begin at a function other than main: they do not repeat what precedes it, and their failures replay."""
import re
import sys

from checking import demand, main

# Function, recording, and a pattern of the message.
REFUSED = (
    ("nowhere", "good", r"late_phase\S* has no function nowhere"),
    ("never_called", "good", "never reached the function where runs begin"),
    ("never_called", "good-1/failure-1", "need the recording that was searched"),
)


def check(at):
    for kind in ("plain", "tsan"):
        folder = at.folder / kind
        folder.mkdir()
        program = at.program("late_phase", kind)
        at.reweave("record", "--seed", "1", "-o", folder / "good", "--", program)
        at.reweave("record", "--seed", "1", "-o", folder / "helped", "--", program, "1", "helper")
        for jobs in ("1", "2"):
            find(at, folder, "good", jobs)
        find(at, folder, "helped", "1")
        for function, recording, words in REFUSED:
            text = at.reweave("explore", folder / recording, f"--fork-at={function}", "-o", folder / "none",
                              accept=(2,))
            demand(re.search(words, text) and text.count("\n") == 1, f"{function} is not refused in one line", text)
            if (folder / "none").exists():
                (folder / "none").rmdir()


def find(at, folder, recording, jobs):
    found = folder / f"{recording}-{jobs}"
    text = at.reweave("explore", folder / recording, "--fork-at=second_phase", "--runs", "60", "-j", jobs, "-o", found,
                      accept=(10,))
    demand("failure-1: exit status 1" in text, "the lost update is not found", text)
    demand("20 of 20 replays" in text, "its recording is not exact", text)
    story = (found / "failure-1" / "story.txt").read_text()
    demand(re.search("Thread [123] stops before it locks lock in transfer", story), "the story is another", story)
    at.reweave("trace", found / "failure-1")
    at.reweave("replay", found / "failure-1", accept=(1,))


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
