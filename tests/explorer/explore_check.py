#!/usr/bin/env python3
"""Explores one subject program of tests/programs: a buggy one must fail as its row says, a correct one must not.

The failure that is found must be verified: its recording replays the same way every time.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SUBJECTS = HERE.parent / "programs" / "subjects.json"

# A pattern of the output of `reweave explore` for each expected outcome.
OUTCOMES = {
    "exit-status": r"exit status \d+",
    "signal": r"killed by signal \d+",
    "deadlock": r"deadlock: ",
    "hang": r"hang: ",
    "memory-error": r"use after free|double free|heap out of bounds",
}
# Bugs that need more preemptions than a short search finds.
DEEP = {"safe_stack": ["--runs", "10000"]}


def run(command, accept, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1500, **options)
    if done.returncode not in accept:
        sys.exit(f"status {done.returncode} of {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_failure(text, subject, story):
    found = re.search(r"failure-1: (.*)\n(?:.*\n)*?  found by .*in run (\d+), (\d+) preemptions?, (\d+) of (\d+) replays", text)
    if not found:
        sys.exit(f"no failure was found:\n{text}")
    if not re.search(OUTCOMES[subject["outcome"]], found[1]):
        sys.exit(f"expected {subject['outcome']}, found {found[1]}")
    if not re.search(subject.get("words", ""), text + story.read_text()):
        sys.exit(f"the report does not say {subject['words']}:\n{text}")
    if found[4] != found[5]:
        sys.exit(f"the failing recording is not exact:\n{text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=int, default=3000)
    parser.add_argument("name")
    arguments = parser.parse_args()
    subject = next(row for row in json.loads(SUBJECTS.read_text()) if row["name"] == arguments.name)
    reweave = arguments.build / "reweave"
    program = arguments.build / "tests" / "programs" / "tsan" / f"{arguments.name}.tsan"
    with tempfile.TemporaryDirectory(prefix="reweave-explore-") as folder:
        recording, found = pathlib.Path(folder) / "recording", pathlib.Path(folder) / "found"
        # A buggy program may fail already while it is recorded.
        run([reweave, "record", "--seed", "1", "-o", recording, "--", program, *subject["argv"]], accept=range(256))
        buggy = subject["kind"] == "buggy"
        # By default the recorded status counts as normal, but a buggy program may have failed while it was recorded.
        expected = ["--expect-status", "0"]
        options = DEEP.get(arguments.name, ["--runs", str(arguments.runs if buggy else 300)])
        text = run([reweave, "explore", recording, "--first", *expected, *options, "-o", found], accept=(0, 10))
        if buggy:
            check_failure(text, subject, found / "failure-1" / "story.txt")
        elif "0 distinct failures" not in text:
            sys.exit(f"a correct program failed:\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
