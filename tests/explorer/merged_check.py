#!/usr/bin/env python3
"""One bug is one failure, however many schedules show it: campaigns that continue after the first failure report it once."""
import sys

from checking import demand, main

# Failures that differ only in the thread, in the line, in how released memory is used, or in what else happened. Runs
# in which only shared memory is watched also find the bug of long_private_work.
SUBJECTS = ["bank_account", "early_timeout", "long_private_work", "lock_order", "merge_sort", "refcount_uaf"]


def check(at):
    for subject in SUBJECTS:
        recording, found = (at.folder / f"{subject}-{part}" for part in ("recording", "found"))
        at.reweave("record", "--seed", "1", "-o", recording, "--", at.program(subject), accept=range(256))
        text = at.reweave("explore", recording, "--runs", "100", "--verify", "0", "-o", found, accept=(10,))
        demand(", 1 distinct failure\n" in text, f"{subject} has one bug", text)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
