#!/usr/bin/env python3
"""A buggy subject program and its correct twin: the run that passes is recorded, traced and analysed.

`predict` must report the bug of the program, with the given KIND and a pattern that starts with PATTERN, and nothing in
the twin. The trace exported as STD text must give the same findings, except for names.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

# Findings that correct twins may show: no tool can tell whether two successive critical sections were meant to be one.
TWIN_MAY_SHOW = {"bank_account": "atomicity violation", "reader_writer": "atomicity violation"}


def run(command, accept=(0,)):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    if done.returncode not in accept:
        sys.exit(f"status {done.returncode} of {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


class Check:
    def __init__(self, build, folder):
        self.reweave, self.folder = build / "reweave", pathlib.Path(folder)
        self.programs = build / "tests" / "programs" / "tsan"

    def findings(self, path):
        return json.loads(run([self.reweave, "predict", path, "--format=json"]))["findings"]

    def predicted(self, name, seed=1):
        recording, trace, text = (self.folder / f"{name}-{seed}{suffix}" for suffix in ("", ".rwt", ".std"))
        run([self.reweave, "record", "--seed", str(seed), "-o", recording, "--", self.programs / f"{name}.tsan"])
        run([self.reweave, "trace", recording, "-o", trace])
        found = self.findings(trace)
        run([self.reweave, "trace", trace, "--export=std", "-o", text])
        same(name, found, self.findings(text))
        return found


def shape(finding):
    """Returns the part of a finding that does not depend on names or source lines (the score does). For races and
    atomicity violations that is only the addresses, because findings at the same lines are merged."""
    if finding["kind"] in ("race", "atomicity violation"):
        return finding["kind"], tuple(sorted({event["address"] for event in finding["events"]}))
    return (finding["kind"], finding["pattern"],
            tuple((event["thread"], event["operation"], event["address"]) for event in finding["events"]))


def counted(findings):
    """Returns how often each shape was seen."""
    seen = collections.Counter()
    for finding in findings:
        seen[shape(finding)] += finding["count"]
    return seen


def same(name, found, exported):
    ours, theirs = counted(found), counted(exported)
    if ours != theirs:
        sys.exit(f"{name}: the exported trace gives other findings:\n{ours - theirs}\n{theirs - ours}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("name")
    parser.add_argument("kind")
    parser.add_argument("pattern")
    parser.add_argument("--twin")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="reweave-fronts-") as folder:
        check = Check(arguments.build, folder)
        # Several tries: on a busy machine slices end early, and some orders of events allow no sound report.
        for seed in range(1, 6):
            found = check.predicted(arguments.name, seed)
            if any(f["kind"] == arguments.kind and f["pattern"].startswith(arguments.pattern) for f in found):
                break
        else:
            sys.exit(f"{arguments.name}: no {arguments.kind} {arguments.pattern} among {found}")
        twin = arguments.twin or arguments.name + "_ok"
        for finding in check.predicted(twin):
            if finding["kind"] != TWIN_MAY_SHOW.get(arguments.name):
                sys.exit(f"{twin} is correct, and yet: {finding}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
