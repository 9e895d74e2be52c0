#!/usr/bin/env python3
"""The whole path: a passing recording, its trace, the predicted lost update, a recording that fails, gdb on it."""
import re
import sys

from checking import demand, main


def check(at):
    passing, trace, candidates, found = (at.folder / part for part in ("passing", "t.rwt", "t.candidates", "found"))
    at.reweave("record", "--seed", "1", "-o", passing, "--", at.program("bank_account"))
    at.reweave("trace", passing, "-o", trace)
    text = at.reweave("predict", trace, "-o", candidates)
    demand(re.search(r"#1 atomicity R1-W2-W1", text) and "balance" in text, "the lost update is not predicted", text)
    text = at.reweave("explore", passing, "--candidates", candidates, "--runs", "0", "-o", found, accept=(10,))
    demand(re.search(r"candidate 1 .*followed to the end; the run failed", text), "it is not confirmed", text)
    demand(", 1 preemption," in text, "its schedule is not minimal", text)
    story = (found / "failure-1" / "story.txt").read_text()
    demand(re.search(r"Thread \d stops before it locks lock in deposit \(bank_account.c:26\)", story),
           "the schedule is not told in words", story)
    demand("20 of 20 replays failed the same way" in text, "it is not exact", text)
    own_check(at)
    two_workers(at, passing)
    gdb(at, found / "failure-1")


def own_check(at):
    """With --check, a run is a failure only if the user's command fails."""
    for wanted, status in (("40", 0), ("41", 10)):
        good = at.folder / f"good-{wanted}"
        at.reweave("record", "-o", good, "--", at.program("bank_account_ok"))
        text = at.reweave("explore", good, "--runs", "5", "--first", "--check", f"grep -q 'balance {wanted}'",
                          "-o", at.folder / f"checked-{wanted}", accept=(status,))
    demand("the check failed: grep" in text and "20 of 20 replays" in text, "the check is not a failure", text)


def two_workers(at, passing):
    runs = []
    for turn in ("a", "b"):
        text = at.reweave("explore", passing, "--runs", "40", "-j", "2", "-o", at.folder / turn, accept=(10,))
        runs.append(re.sub(r".*runs/s.*|\S*/failure| in [0-9.]+ s\b", "", text))
    demand(runs[0] == runs[1], "two workers do not give the same twice", runs[0] + runs[1])


def gdb(at, failing):
    for _ in range(5):
        text = at.reweave("replay", failing, accept=(134,))
        demand("a deposit was lost" in text, "a replay did not fail as recorded", text)
    text = at.reweave("replay", failing, "-g", "end", "--gdb-batch", "info threads;bt;print balance", accept=range(256))
    demand("__assert_fail" in text and "audit (" in text, "gdb is not at the assertion", text)
    demand(len(re.findall(r"^[* ] +\d+ +(?:Thread|LWP)", text, re.M)) >= 3, "not all threads are visible", text)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
