#!/usr/bin/env python3
"""A search that a signal ends prints what it knows by then and exits with 128 + the signal's number. The
signal goes to the whole group, as from a terminal or timeout(1)."""
import json
import os
import signal
import subprocess
import sys
import time

from checking import demand, main

LIMIT = 600  # seconds
FOR_EVER = "100000000"


def end_by(at, number, *arguments, ready):
    """Runs a command, and sends it the signal `number` a second after `ready()` is true. Returns its output."""
    command = [str(at.build / "reweave"), *map(str, arguments)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    deadline = time.monotonic() + LIMIT
    while not ready() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)  # time for some runs
    os.kill(process.pid, number)  # then the group, as timeout(1) does
    os.killpg(process.pid, number)
    output, errors = process.communicate(timeout=LIMIT)
    demand(process.returncode == 128 + number, f"status {process.returncode} after {number.name}", output + errors)
    demand("supervisor was killed" not in errors, f"{number.name} killed a worker", errors)
    return output


def interrupted_campaign(at, recording):
    """Interrupted units of a campaign keep their results so far."""
    for number in (signal.SIGINT, signal.SIGTERM):
        campaign = at.folder / f"campaign-{number.name}"
        at.reweave("campaign", "new", campaign, recording, "--units", 2, "--runs", FOR_EVER)
        end_by(at, number, "campaign", "run", campaign, "--jobs", 2, ready=lambda: True)
        text = at.reweave("campaign", "status", campaign)
        demand("in part: 2 more" in text, f"units were lost by {number.name}", text)


def check(at):
    correct = at.folder / "correct"
    at.reweave("record", "-o", correct, "--", at.program("bank_account_ok"))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        found = at.folder / f"found-{number.name}"
        text = end_by(at, number, "explore", correct, "-j", 2, "--runs", FOR_EVER, "-o", found, ready=found.exists)
        demand(f"interrupted by {number.name}" in text and "0 distinct failures" in text, "explore", text)
    interrupted_campaign(at, correct)
    found = at.folder / "found-json"
    report = json.loads(end_by(at, signal.SIGTERM, "explore", correct, "--json", "--runs", FOR_EVER, "-o", found, ready=found.exists))
    demand(report["interrupted"] == signal.SIGTERM and report["status"] == 128 + signal.SIGTERM, "explore --json", report)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
