#!/usr/bin/env python3
"""Stacks of code without instrumentation: records a passing run, traces it, checks both stacks of a predicted deadlock.

    stacks_check.py REWEAVE PLAIN MIXED
"""
import pathlib
import re
import subprocess
import sys
import tempfile

# Per program: the stacks at which the second lock is requested.
STACKS = {
    "plain": {("lock_both", "post_entry", "main"), ("lock_both", "check_entry", "auditor")},
    "mixed": {("hold_both", "library_do", "forwards", "main"), ("hold_both", "library_do", "backwards", "worker")},
}


def run(*command):
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"status {done.returncode} of {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def demand(condition, what, text):
    if not condition:
        sys.exit(f"{what}:\n{text}")


def stacks_of(finding):
    """Returns the stack below each "thread N locks ..." line: function names, innermost first."""
    events = re.split(r"^    thread .*\n", finding, flags=re.M)[1:]
    return {tuple(re.findall(r"^      (?:in|by) (\w+)", event, re.M)) for event in events}


def check(reweave, kind, program, folder):
    recording, trace, candidates = (folder / (kind + suffix) for suffix in ("", ".rwt", ".candidates"))
    run(reweave, "record", "--seed", "1", "-o", recording, "--", program)
    run(reweave, "trace", recording, "-o", trace)
    text = run(reweave, "predict", trace, "-o", candidates)
    found = [finding for finding in re.split(r"^#\d+ ", text, flags=re.M) if finding.startswith("deadlock")]
    demand(len(found) == 1, f"{kind}: not one deadlock", text)
    demand(stacks_of(found[0]) == STACKS[kind], f"{kind}: stacks {stacks_of(found[0])}", text)
    run(reweave, "replay", recording)
    text = run(reweave, "dump", trace)
    demand(" stack " in text, f"{kind}: no stacks in the dump", text[:4000])


def main():
    reweave, plain, mixed = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="reweave-stacks-") as name:
        check(reweave, "plain", plain, pathlib.Path(name))
        check(reweave, "mixed", mixed, pathlib.Path(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
