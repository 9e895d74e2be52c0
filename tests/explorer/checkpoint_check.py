#!/usr/bin/env python3
"""Runs that begin where other threads exist, each waiting in its own way, continue like the same runs from main."""
import re
import shutil
import subprocess
import sys

from checking import demand, main

RUNS = 500


def check(at):
    for kind in ("plain", "tsan"):
        folder = at.folder / kind
        folder.mkdir()
        program = at.program("threaded_phase", kind)
        at.reweave("record", "--seed", "1", "-o", folder / "plain", "--", program, "1", "4", "plain", accept=(0, 1))
        at.reweave("record", "--seed", "1", "-o", folder / "all", "--", program, accept=(0, 1))
        compare(at, folder / "plain")
        find(at, folder)


def tool_of(at):
    """Returns the path of the tool, in a folder that has the runtime where the tool looks for it."""
    tool = at.folder / "checkpoint_runs"
    if not tool.exists():
        shutil.copy(at.build.resolve() / "tests/explorer/checkpoint_runs", tool)
        (at.folder / "recorder").symlink_to(at.build.resolve() / "recorder")
    return tool


def compare(at, recording):
    """Compares the runs decision by decision."""
    command = [tool_of(at), recording, "second_phase", str(RUNS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    text = done.stdout + done.stderr
    demand(done.returncode == 0 and f"{RUNS} of {RUNS} runs equal" in text, "runs differ", text)
    demand(not re.search(" 0 failed", text), "no run failed: the comparison says little", text)


def find(at, folder):
    """A failure found from the checkpoint is a complete recording, however the threads waited."""
    found = folder / "found"
    text = at.reweave("explore", folder / "all", "--fork-at=second_phase", "--runs", "300", "-o", found, accept=(10,))
    demand("failure-1: exit status 1" in text, "the lost update is not found", text)
    demand("20 of 20 replays" in text, "its recording is not exact", text)
    demand("exit status 3" not in text, "a thread lost what was its own", text)
    at.reweave("trace", found / "failure-1")
    at.reweave("replay", found / "failure-1", accept=(1,))
    at.reweave("explain", found / "failure-1", "--seconds", "20", accept=(0, 11))


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
