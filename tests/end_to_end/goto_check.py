#!/usr/bin/env python3
"""`reweave replay -g N` stops at every event: it says where the program is, or that its process ends there.

    goto_check.py --build BUILD [--each N] [--all] [--most N] [--chaos] [NAME...]

Records programs of tests/programs/subjects.json (default: every built program of kind "behaviour") and goes to events
of each recording: N of each sort that `reweave dump` shows (one sort for each switch reason and each kind of record),
or every event with --all. Prints a line for each event at which gdb hangs or fails, and exits 1 if there is any.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "programs"
RECORD_SECONDS = 20
GOTO_SECONDS = 90
MOST_EVENTS = 20_000  # longer recordings are skipped: going to their events takes too long
ANSWERS = ("event ", "reweave: the process ends at this event")


def run(command, seconds, stdin=""):
    """Returns exit status, standard output and standard error. Kills a command that hangs; its status is None."""
    with tempfile.TemporaryFile("w+", errors="replace") as output, tempfile.TemporaryFile("w+", errors="replace") as errors:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=errors, text=True,
                                   start_new_session=True)
        try:
            process.communicate(stdin, timeout=seconds)
            status = process.returncode
        except subprocess.TimeoutExpired:
            status = None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        errors.seek(0)
        return status, output.read(), errors.read()


def sort_of(line):
    """Returns the sort of the event in a line of `reweave dump`. The debugger reaches all events of one sort in the same way."""
    words = line.split()
    if "switch" in words:
        return "switch, " + re.search(r"switch to t\d+, ([a-z ]+)", line)[1]
    return " ".join(re.sub(r"[(=].*", "", word) for word in words[2:4] if not word[0].isdigit())


def events_to_try(dump, each, every):
    """Returns {number: sort} of the events to go to. They are spread evenly over the events of each sort."""
    sorts = {}
    for line in dump.splitlines():
        found = re.match(r"(\d+) ", line)
        if found:
            sorts.setdefault(sort_of(line), []).append(int(found[1]))
    chosen = {}
    for sort, events in sorts.items():
        picked = events if every else sorted({events[i * (len(events) - 1) // max(each - 1, 1)] for i in range(each)})
        chosen.update({event: sort for event in picked})
    return chosen


def go(arguments, recording, event):
    """Returns the problem at the event, or None."""
    status, output, errors = run([arguments.reweave, "replay", "--quiet", "-g", str(event), "--gdb-batch", "bt 3; when",
                                  recording], GOTO_SECONDS)
    if status is None:
        return "does not come back"
    if any(answer in output for answer in ANSWERS) and not re.search("Divergence|Traceback|Python Exception", errors):
        return None
    return f"exit status {status}: {(output + errors).strip()[-600:]}"


def check(arguments, subject):
    """Records the program. Yields (event, sort, problem or None) for the events that are tried."""
    program = arguments.build / "tests/programs/plain" / subject["name"]
    with tempfile.TemporaryDirectory(prefix="reweave-goto-") as folder:
        recording = pathlib.Path(folder) / "recording"
        command = [arguments.reweave, "record", "--seed", "1", *(["--chaos"] if arguments.chaos else []), "-o", recording]
        run([*command, "--", program, *subject["argv"]], RECORD_SECONDS, subject["stdin"])
        status, dump, errors = run([arguments.reweave, "dump", recording], RECORD_SECONDS)
        if status != 0:
            yield 0, "record", f"no recording: {errors.strip()}"
            return
        if dump.count("\n") > MOST_EVENTS:
            return
        chosen = sorted(events_to_try(dump, arguments.each, arguments.all).items())
        for event, sort in chosen[::-(-len(chosen) // arguments.most) or 1]:
            yield event, sort, go(arguments, recording, event)


def report(arguments, subject):
    """Returns how many events were tried, and how many failed."""
    tried = failed = 0
    for event, sort, problem in check(arguments, subject):
        tried += 1
        if problem is not None:
            failed += 1
            print(f"{subject['name']}: event {event} ({sort}): {problem}", flush=True)
    return tried, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--each", type=int, default=1, help="events of each sort")
    parser.add_argument("--all", action="store_true", help="every event")
    parser.add_argument("--most", type=int, default=10**9, help="events of a recording")
    parser.add_argument("--chaos", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    arguments.reweave = (arguments.build / "reweave").resolve()
    subjects = json.loads((PROGRAMS / "subjects.json").read_text(encoding="utf-8"))
    wanted = [s for s in subjects if (s["name"] in arguments.names if arguments.names else s["kind"] == "behaviour")]
    wanted = [s for s in wanted if arguments.names or (arguments.build / "tests/programs/plain" / s["name"]).exists()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda subject: report(arguments, subject), wanted))
    tried, failed = (sum(column) for column in zip(*results))
    print(f"{tried} events of {len(wanted)} recordings, {failed} failed")
    return 1 if failed or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
