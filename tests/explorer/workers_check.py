#!/usr/bin/env python3
"""The workers of `explore -j N` run side by side: each target has a processor of its own if there are enough."""
import os
import pathlib
import re
import subprocess
import sys
import time

from checking import demand, main

SECONDS = 60
ATTEMPTS = 20  # other runs of Reweave may use the other processors meanwhile


def processors_of(program, folder):
    """Returns, by process ID, the allowed processors of processes that run `program` for a search into `folder`."""
    lists = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and is_target(entry, program) and folder in parent_of(entry):
                lists[entry.name] = re.search(r"^Cpus_allowed_list:\s*(\S+)", (entry / "status").read_text(), re.M)[1]
        except OSError:  # it ended meanwhile
            continue
    return lists


def is_target(entry, program):
    return (entry / "cmdline").read_bytes().split(b"\0")[0] == str(program).encode()


def parent_of(entry):
    """Returns the command line of the parent process."""
    parent = re.search(r"^PPid:\s*(\d+)", (entry / "status").read_text(), re.M)[1]
    return (pathlib.Path("/proc") / parent / "cmdline").read_text(errors="replace").split("\0")


def processors_of_search(at, program, recording, found):
    search = subprocess.Popen([at.build / "reweave", "explore", "-q", recording, "-j", "2", "--seconds", str(SECONDS),
                               "--runs", "100000000", "-o", found], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL)
    try:
        deadline, seen = time.monotonic() + SECONDS, {}
        while time.monotonic() < deadline and len(seen) < 2:
            seen = processors_of(program, str(found))
            time.sleep(0.05)
        demand(len(seen) == 2, "two workers do not have two targets", seen)
        return seen
    finally:
        search.terminate()
        search.wait(timeout=SECONDS)


def check(at):
    if len(os.sched_getaffinity(0)) < 2:
        print("skipped: there is one processor only")
        sys.exit(77)
    program, recording = at.program("bank_account_ok"), at.folder / "recording"
    at.reweave("record", "-o", recording, "--", program)
    seen = []
    for attempt in range(ATTEMPTS):
        seen.append(processors_of_search(at, program, recording, at.folder / f"found-{attempt}"))
        if len(set(seen[-1].values())) == 2:
            return
    demand(False, "two workers always share a processor", seen)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
