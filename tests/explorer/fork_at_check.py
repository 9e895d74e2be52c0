#!/usr/bin/env python3
"""Runs that begin at a function other than main: what comes before is in none of them, and their failures replay."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile


def run(command, accept=(0,)):
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    if done.returncode not in accept:
        sys.exit(f"status {done.returncode} of {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def demand(condition, what, text):
    if not condition:
        sys.exit(f"{what}:\n{text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    reweave = arguments.build / "reweave"
    with tempfile.TemporaryDirectory(prefix="reweave-fork-at-") as name:
        for kind in ("plain", "tsan"):
            folder = pathlib.Path(name) / kind
            folder.mkdir()
            suffix = ".tsan" if kind == "tsan" else ""
            program = arguments.build / "tests" / "programs" / kind / f"late_phase{suffix}"
            run([reweave, "record", "--seed", "1", "-o", folder / "good", "--", program])
            run([reweave, "record", "--seed", "1", "-o", folder / "helped", "--", program, "1", "helper"])

            for jobs in ("1", "2"):
                found = folder / f"found-{jobs}"
                text = run([reweave, "explore", folder / "good", "--fork-at=second_phase", "--runs", "60", "-j", jobs,
                            "-o", found], accept=(10,))
                demand("failure-1: exit status 1" in text, "the lost update is not found", text)
                demand("20 of 20 replays" in text, "its recording is not exact", text)
                demand(re.search("Thread [12] stops before it locks lock in transfer", text), "the story is another", text)
                run([reweave, "trace", found / "failure-1"])
                run([reweave, "replay", found / "failure-1"], accept=(1,))

            for function, recording, words in (
                    ("nowhere", "good", r"late_phase\S* has no function nowhere"),
                    ("never_called", "good", "never came to the function where runs are to begin"),
                    ("second_phase", "helped", "other threads run when that function is first entered"),
                    ("second_phase", "found-1/failure-1", "need the recording that it departed from")):
                text = run([reweave, "explore", folder / recording, f"--fork-at={function}", "-o", folder / "none"],
                           accept=(2,))
                demand(re.search(words, text) and text.count("\n") == 1, f"{function} is not refused in one line", text)
                (folder / "none").rmdir() if (folder / "none").exists() else None
    return 0


if __name__ == "__main__":
    sys.exit(main())
