"""Counts individual tests in entries of the log of `meson test`, and prints their logs.

A test program may hold many tests. Its output says how many: Boost.Test, Python's unittest, TAP, or a last line
"N passed, N failed". Anything else is one test. A test program that was skipped counts neither as passed nor as failed.
It is listed with the last line of its output, which says what it lacks.
"""
import re

SHOWN_LINES = 60


def count_boost(text):
    """Boost.Test: (passed, failed) or None."""
    found = re.search(r"^Running (\d+) test cases?\.\.\.", text, re.M)
    if not found:
        return None
    failed = len(set(re.findall(r"(?:fatal )?error: in \"([^\"]+)\"", text)))
    return int(found[1]) - failed, failed


def count_unittest(text):
    found = re.search(r"^Ran (\d+) tests? in ", text, re.M)
    if not found:
        return None
    verdict = re.search(r"^FAILED \((.*)\)$", text, re.M)
    failed = sum(int(n) for n in re.findall(r"(?:failures|errors)=(\d+)", verdict[1])) if verdict else 0
    return int(found[1]) - failed, failed


def count_tap(text):
    passed = len(re.findall(r"^ok\b", text, re.M))
    failed = len(re.findall(r"^not ok\b", text, re.M))
    return (passed, failed) if passed + failed and re.search(r"^1\.\.\d+", text, re.M) else None


def count_summary(text):
    found = re.findall(r"^(\d+) passed, (\d+) failed$", text, re.M)
    return (int(found[-1][0]), int(found[-1][1])) if found else None


def text_of(entry):
    """The whole output of one entry of testlog.json."""
    return entry.get("stdout", "") + "\n" + entry.get("stderr", "")


def count(entry):
    """(passed, failed) of one entry of testlog.json."""
    text = text_of(entry)
    good = entry["result"] in ("OK", "EXPECTEDFAIL")
    for counter in (count_boost, count_unittest, count_tap, count_summary):
        counted = counter(text)
        if counted is None:
            continue
        passed, failed = max(counted[0], 0), counted[1]
        if not good and failed == 0:  # it crashed or was stopped: the running test did not pass
            passed, failed = max(passed - 1, 0), 1
        return passed, failed
    return (1, 0) if good else (0, 1)


def tail(text):
    lines = text.rstrip().splitlines()
    cut = ["..."] if len(lines) > SHOWN_LINES else []
    return "\n".join(cut + lines[-SHOWN_LINES:])


def print_skipped(entry):
    lines = text_of(entry).strip().splitlines()
    print(f"---- {entry['name']}: {lines[-1] if lines else 'skipped, without a reason'}")


def print_log(entry):
    print(f"---- {entry['name']}: {entry['result']}, {entry['duration']:.1f} s")
    print(tail(entry.get("stdout", "")))
    print(tail(entry.get("stderr", "")))
