#!/usr/bin/env python3
"""Runs that depend on surroundings that are not recorded: no failure is reported that the schedule does not cause."""
import re
import sys

from checking import demand, main

PASSES = "0 distinct failures"
REPEATED = "ended as the recorded order does when it is repeated, although the recorded run passed"
# The program orders its processes only by sleeping, so a run in which one of them is slow fails.
SLEEPS = "0 left the recording, [12] distinct failure"
# Program, exit status, and a pattern of the output.
CASES = (
    ("code_mapped_again", 0, PASSES),
    ("compute_until_told", 11,
     "could not be examined: a thread computed for 10 seconds without a schedule point[^!]*"
     "the search ended early because none of its runs could be examined"),
    ("file_changed_by_flags", 0, PASSES),
    ("file_room", 11, REPEATED),
    ("file_seals", 11, REPEATED),
    ("hot_calls", 0, PASSES),
    ("mapping_errors", 11, REPEATED),
    ("mappings_that_grow", 11, REPEATED),
    ("process_attributes", 11, PASSES + r"[^!]*\n2 " + REPEATED),
    ("signal_nesting", 0, PASSES),
    ("signal_interrupts", 10, SLEEPS),
    ("sleep_remainder", 0, PASSES),
    ("socket_time_limits", 10, SLEEPS),
    ("socketpair", 11, "it sends a descriptor of the run to a process outside of the run"),
    ("sysv_ipc", 0, PASSES),
    ("timers_in_order", 0, PASSES),
)


def explored(at, name, program, status):
    at.reweave("record", "--seed", "1", "-o", at.folder / name, "--", *program)
    return at.reweave("explore", at.folder / name, "--runs", "20", "-o", at.folder / (name + ".x"), accept=(status,))


def check_own_link(at):
    """A replay gets the answer for /proc/self/exe that the run got."""
    recording, found, program = at.folder / "link", at.folder / "link.x", at.program("env_args", "plain")
    at.reweave("record", "-o", recording, "--", program)
    at.reweave("explore", recording, "--runs", "1", "--check", "false", "-o", found, accept=(10,))
    text = at.reweave("replay", found / "failure-1")
    demand(f"/proc/self/exe {program.resolve()}\n" in text, "a replayed run was told of another program", text)


def check(at):
    for name, status, words in CASES:
        text = explored(at, name, [at.program(name, "plain")], status)
        demand(re.search(words, text), f"{name}: not a word of '{words}'", text)
    for name in ("bounded_spins", "compute_in_turns", "compute_until_told", "signal_in_a_leaf"):
        text = explored(at, name + ".tsan", [at.program(name)], 0)
        demand(PASSES in text and REPEATED not in text, f"{name}, instrumented: something is said to fail", text)
    check_own_link(at)
    text = explored(at, "env", ["env", "true"], 0)
    demand(PASSES in text and "0 left the recording" in text, "env", text)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
