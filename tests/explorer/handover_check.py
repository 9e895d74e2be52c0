#!/usr/bin/env python3
"""Bugs that show when a woken thread comes late are found by the runs of the policy `handover`, in the opening."""
import sys

from checking import demand, main

OPENING = 16  # runs


def check(at):
    for name in ("bounded_buffer_if", "piper"):
        recording = at.folder / name
        at.reweave("record", "--seed", "1", "-o", recording, "--", at.program(name))
        text = at.reweave("explore", recording, "--first", "--runs", OPENING, "--verify", "3", "-o",
                          at.folder / f"{name}.found", accept=(10,))
        demand(", handover in run " in text, f"{name}: not found by handover", text)
        demand("3 of 3 replays failed the same way" in text, f"{name}: the failure does not replay", text)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
