#!/usr/bin/env python3
"""One bug is one failure, however many schedules show it: campaigns that go on after the first failure report it once."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

# Failures that differ only in the thread, in the line, or in what else happened; long_private_work is found by runs that
# watch only what threads share, too.
SUBJECTS = ["bank_account", "early_timeout", "long_private_work", "lock_order", "merge_sort"]


def run(command, accept=(0,)):
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    if done.returncode not in accept:
        sys.exit(f"status {done.returncode} of {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    reweave = arguments.build / "reweave"
    with tempfile.TemporaryDirectory(prefix="reweave-merged-") as name:
        for subject in SUBJECTS:
            recording, found = (pathlib.Path(name) / f"{subject}-{part}" for part in ("recording", "found"))
            run([reweave, "record", "--seed", "1", "-o", recording, "--",
                 arguments.build / "tests" / "programs" / "tsan" / f"{subject}.tsan"], accept=range(256))
            text = run([reweave, "explore", recording, "--runs", "100", "--verify", "0", "-o", found], accept=(10,))
            if not re.search(r", 1 distinct failures", text):
                sys.exit(f"{subject} has one bug:\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
