#!/usr/bin/env python3
"""Candidates of a run so long that their witnesses lack the beginning: the recorded run leads there, and all fail."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

PASSES = "90"  # some 550,000 events; a witness has 200,000 steps at the most


def run(command, accept=(0,)):
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200)
    if done.returncode not in accept:
        sys.exit(f"status {done.returncode} of {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    reweave = arguments.build / "reweave"
    with tempfile.TemporaryDirectory(prefix="reweave-witness-") as name:
        recording, trace, candidates, found = (pathlib.Path(name) / part for part in ("r", "t.rwt", "c", "found"))
        run([reweave, "record", "--seed", "1", "-o", recording, "--",
             arguments.build / "tests" / "programs" / "tsan" / "long_private_work.tsan", PASSES], accept=(0, 1))
        run([reweave, "trace", recording, "-o", trace])
        run([reweave, "predict", trace, "-o", candidates])
        text = run([reweave, "explore", recording, "--candidates", candidates, "--strategy", "witness", "--verify", "0",
                    "--minimise", "0", "-o", found], accept=(10,))
        verdicts = re.findall(r"^candidate \d+ .*", text, re.M)
        if not verdicts or not all("witness was followed to the end; the run failed" in line for line in verdicts):
            sys.exit(f"a witness was not followed:\n{text}")
        # One more than there are candidates: the recorded order had to be seen.
        if not re.search(rf"^{len(verdicts) + 1} runs", text, re.M):
            sys.exit(f"the witnesses were whole, this is no test:\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
