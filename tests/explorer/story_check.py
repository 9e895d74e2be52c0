#!/usr/bin/env python3
"""The whole path: a passing recording, its trace, the predicted lost update, a recording that fails, gdb on it."""
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
    build = pathlib.Path(sys.argv[1])
    reweave = build / "reweave"
    with tempfile.TemporaryDirectory(prefix="reweave-story-") as name:
        folder = pathlib.Path(name)
        passing, trace, candidates, found = (folder / part for part in ("passing", "t.rwt", "t.candidates", "found"))
        run([reweave, "record", "--seed", "1", "-o", passing, "--", build / "tests/programs/tsan/bank_account.tsan"])
        run([reweave, "trace", passing, "-o", trace])
        text = run([reweave, "predict", trace, "-o", candidates])
        demand(re.search(r"#1 atomicity R1-W2-W1", text) and "balance" in text, "the lost update is not predicted", text)
        text = run([reweave, "explore", passing, "--candidates", candidates, "--runs", "0", "-o", found], accept=(10,))
        demand(re.search(r"candidate 1 .*followed to the end; the run failed", text), "it is not confirmed", text)
        demand(", 1 preemption," in text, "its schedule is not minimal", text)
        demand(re.search(r"Thread \d stops before it locks lock in deposit \(bank_account.c:26\)", text),
               "the schedule is not told in words", text)
        demand("20 of 20 replays failed the same way" in text, "it is not exact", text)
        for turn, (wanted, status) in enumerate((("40", 0), ("41", 10))):
            run([reweave, "record", "-o", folder / f"good-{turn}", "--",
                 build / "tests/programs/tsan/bank_account_ok.tsan"])
            text = run([reweave, "explore", folder / f"good-{turn}", "--runs", "5", "--first", "--check",
                        f"grep -q 'balance {wanted}'", "-o", folder / f"checked-{turn}"], accept=(status,))
        demand("the check failed: grep" in text and "20 of 20 replays" in text, "the check is not a failure", text)
        runs = []
        for turn in ("a", "b"):
            text = run([reweave, "explore", passing, "--runs", "40", "-j", "2", "-o", folder / turn], accept=(10,))
            runs.append(re.sub(r".*runs/s.*|\S*/failure", "", text))
        demand(runs[0] == runs[1], "two workers do not give the same twice", runs[0] + runs[1])
        failing = found / "failure-1"
        for _ in range(5):
            text = run([reweave, "replay", failing], accept=(134,))
            demand("a deposit was lost" in text, "a replay did not fail as recorded", text)
        text = run([reweave, "replay", failing, "-g", "end", "--gdb-batch", "info threads;bt;print balance"], range(256))
        demand("__assert_fail" in text and "audit (" in text, "gdb is not at the assertion", text)
        demand(len(re.findall(r"^[* ] +\d+ +(?:Thread|LWP)", text, re.M)) >= 3, "not all threads are visible", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
