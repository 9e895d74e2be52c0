#!/usr/bin/env python3
"""Runs the tests of a build and ends with the line "N passed, N failed", counted over individual tests.

    scripts/run_tests.py BUILD [arguments of `meson test`]

A test program that failed is run again alone, three times. If it then passes each time it is unstable: it counts as
passed, and is listed with the log of its first run under "unstable: N". There are limits to that: what a test must never
show even once (FATAL below) is a failure at once, and so is everything if more than MOST_UNSTABLE programs failed.
Exit status 0 if there are tests and none failed.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

import count_tests

AGAIN = 3
MOST_UNSTABLE = 5
# The time limits in meson.build only end tests that hang, so they are tripled in case the machine is slow or busy.
TIMEOUT_MULTIPLIER = 3
# Defects even if they show only once: a replay that differs, an internal error, a sanitizer's report, lost data, a
# false alarm about a correct program.
FATAL = re.compile(r"Divergence|internal error|status 70\b|ended with 70\b|returncode=70\b|(Address|Thread|Leak)Sanitizer: |"
                   r"runtime error: |ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|correct program failed|"
                   r"what was never there|is lost\b|was lost\b")


def meson_test(build, *arguments):
    """The entries of the log of one `meson test`, which prints its own progress."""
    log = build / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    meson = os.environ.get("REWEAVE_MESON", "meson")
    subprocess.run([meson, "test", "-C", build, "--no-rebuild", "--timeout-multiplier", str(TIMEOUT_MULTIPLIER), *arguments],
                   check=False)
    return read_log(log)


def read_log(path):
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def failed(entry):
    return entry["result"] != "SKIP" and count_tests.count(entry)[1] > 0


def is_fatal(entry):
    return FATAL.search(count_tests.text_of(entry)) is not None


def passes_again(build, entry):
    """True if the test program, run alone, passes AGAIN times in a row."""
    name = entry["name"].rpartition(" / ")[2]
    print(f"running {name} again, alone", flush=True)
    again = meson_test(build, "--num-processes", "1", "--repeat", str(AGAIN), name)
    mine = [one for one in again if one["name"] == entry["name"]]
    return len(mine) == AGAIN and not any(failed(one) for one in mine)


def find_unstable(build, entries):
    """The failed entries that pass when they are run again."""
    suspects = [entry for entry in entries if failed(entry)]
    if len(suspects) > MOST_UNSTABLE:
        return []
    return [entry for entry in suspects if not is_fatal(entry) and passes_again(build, entry)]


def report(entries, unstable):
    """Prints what was skipped, unstable and failed; returns the exit status."""
    passed = failures = 0
    if unstable:
        print(f"unstable: {len(unstable)}")
    for entry in unstable:
        count_tests.print_log(entry)
    for entry in entries:
        if entry["result"] == "SKIP":
            count_tests.print_skipped(entry)
            continue
        good, bad = count_tests.count(entry)
        if entry in unstable:
            good, bad = good + bad, 0
        passed, failures = passed + good, failures + bad
        if bad:
            count_tests.print_log(entry)
    print(f"{passed} passed, {failures} failed")
    return 0 if passed and not failures else 1


def main():
    build, *arguments = sys.argv[1:]
    build = pathlib.Path(build)
    entries = meson_test(build, "--num-processes", os.environ.get("JOBS") or str(len(os.sched_getaffinity(0))), *arguments)
    if not entries:
        print("no tests were run", file=sys.stderr)
    return report(entries, find_unstable(build, entries))


if __name__ == "__main__":
    sys.exit(main())
