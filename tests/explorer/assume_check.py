#!/usr/bin/env python3
"""`explore --assume`: a search that assumes the remedy that `explain` names finds no failure. A search that assumes
nothing, or something else, still does."""
import json
import re
import subprocess
import sys

from checking import demand, main, subjects

# Subjects whose remedies are a block of memory accesses, a block under locks, an order, and the locks of a cycle.
SUBJECTS = subjects(["check_then_use", "bank_account", "sleep_as_order", "lock_order"], "check_then_use", "bank_account")
RUNS = 400


def recorded(at, name):
    path = at.folder / name
    for seed in range(1, 50):
        at.reweave("record", "--seed", seed, "-o", path, "--", at.program(name), accept=range(256))
        if json.loads(at.reweave("traceinfo", path))["outcome"] == "passed":
            return path
        subprocess.run(["rm", "-r", path], check=True)
    sys.exit(f"no run of {name} passes")


def search(at, recording, *options, accept):
    number = len(list(at.folder.glob("found-*")))
    return at.reweave("explore", recording, "--runs", RUNS, "--verify", 1, "--minimise", 0, "-o",
                      at.folder / f"found-{number}", *options, accept=accept)


def check(at):
    passing = {name: recorded(at, name) for name in SUBJECTS}
    for name, recording in passing.items():
        found = at.folder / f"{name}.found"
        at.reweave("explore", recording, "--first", "--verify", 1, "-o", found, accept=(10,))
        failure = found / "failure-1"
        report = json.loads(at.reweave("explain", failure, "--seconds", 120, "--json"))
        remedy = report["remedies"][-1]
        demand(remedy["assume"], f"{name}: a remedy that cannot be named", remedy)
        if name == SUBJECTS[0]:
            text = at.reweave("explain", failure, "--seconds", 120)
            demand(f"--assume '{remedy['assume']}'" in text, f"{name}: not printed", remedy)
        for start in (recording, failure):  # a search can start from either
            text = search(at, start, "--assume", remedy["assume"], accept=(0,))
            demand(f"assumed: {remedy['assume']}\n" in text, f"{name}: it is not said what was assumed", text)
            none_fails(name, text)
    fails_anyway(at, passing["check_then_use"])
    infeasible(at, passing["check_then_use"])
    with_locks(at, passing["bank_account"])
    of_a_program(at)
    refused(at, passing["bank_account"])


def none_fails(name, text):
    said = re.search(r"under this 0 of (\d+) runs fail \(at most ([0-9.]+) % of such runs, 95 %\)", text)
    demand(said, f"{name}: it fails under its remedy", text)
    runs = int(said[1])
    demand(runs > RUNS * 0.5, f"{name}: hardly a run counts", text)
    bound = 100 * (1 - 0.05 ** (1 / runs))
    demand(abs(float(said[2]) - bound) < 0.06 * bound, f"{name}: another bound than {bound}", text)


def fails_anyway(at, recording):
    """Assumes a block that the failure does not depend on."""
    text = search(at, recording, "--assume", "uninterrupted main:41.1", accept=(10,))
    said = re.search(r"under this (\d+) of (\d+) runs fail \((\d[0-9.]*) %\)", text)
    demand(said and 0 < int(said[1]) < int(said[2]), "it does not say that it still fails", text)


def infeasible(at, recording):
    """Assumes that a read waits for a place that no run reaches before that read."""
    text = search(at, recording, "--assume", "worker:24.1 only after worker:24.2", "--strategy", "random", accept=(0, 10, 11))
    demand(re.search(r"\d+ more runs? could not hold it", text), "what is not feasible is not counted", text)


def with_locks(at, recording):
    """Assumes a block written by hand: from the lock before the read to the unlock after the write."""
    none_fails("by hand", search(at, recording, "--assume", "uninterrupted deposit:22-28 by audit:33", accept=(0,)))


def of_a_program(at):
    """Given a program, `explore` records it first."""
    text = at.reweave("explore", "--runs", 100, "-o", at.folder / "of-program", "--assume",
                      "uninterrupted deposit:22-28", "--", at.program("bank_account"))
    demand(re.search(r"under this 0 of \d\d+ runs fail", text) and "recorded " in text, "a program cannot be given", text)


def refused(at, recording):
    for assumption, words in (("uninterrupted deposit:1-2", "line 1 of deposit has no operation"),
                              ("uninterrupted nobody:1-2", "line 1 of nobody has no operation"),
                              ("uninterrupted deposit:22..audit:34", "line 34 of audit has"),
                              ("uninterrupted deposit:22.7", "line 22 of deposit has 1 operation"),
                              ("something", "is not an assumption"),
                              ("nothing.so+0x10 only after deposit:22", "no file nothing.so")):
        text = at.reweave("explore", recording, "--assume", assumption, "-o", at.folder / "refused", accept=(2,))
        demand(words in text and text.count("\n") == 1, f"'{assumption}' is refused otherwise", text)
    text = at.reweave("explore", recording, "--", "/bin/true", accept=(2,))
    demand("unexpected argument" in text, "a recording and a program at once", text)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
