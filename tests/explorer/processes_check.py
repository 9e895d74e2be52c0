#!/usr/bin/env python3
"""Runs of several processes: bugs of tests/programs are found and replay, correct programs pass, no run leaves the
recording, and no process is left when a run is over."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from checking import LONG, demand, main

BUGGY = {"fork_order": 1, "children_race": 1, "child_threads": 3, "child_crash": 139, "executed_race": 1,
         "spawned_race": 1, "popen_race": 1}
CORRECT = ("fork_order_ok", "children_race_ok", "child_threads_ok", "processes_ok")


def explore(at, name, program, runs, accept):
    at.reweave("record", "--seed", "1", "-o", at.folder / name, "--", *program, accept=range(256))
    text = at.reweave("explore", at.folder / name, "--runs", runs, "--expect-status", 0,
                      "-o", at.folder / f"{name}.x", accept=accept)
    demand(re.search(r"\b0 left the recording", text), f"{name}: runs left the recording", text)
    return text


def processes_of(program):
    """Returns the IDs of processes whose command line has the program's path, including those that execute the core."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        try:
            line = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if folder.name.isdigit() and int(folder.name) != os.getpid() and str(program).encode() in line:
            found.append(int(folder.name))
    return found


def demand_gone(program, when):
    for _ in range(500):
        left = processes_of(program)
        if not left:
            return
        time.sleep(0.02)
    sys.exit(f"{when}: processes are left: {left}")


def check_killed(at):
    """A campaign that is killed in the middle of a run of several processes leaves none of them."""
    program = at.program("processes_ok")
    at.reweave("record", "-o", at.folder / "killed", "--", program)
    campaign = subprocess.Popen([at.build / "reweave", "explore", at.folder / "killed", "--runs", "100000",
                                 "-o", at.folder / "killed.x"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(1000):
        if len(processes_of(program)) > 2 or campaign.poll() is not None:
            break
        time.sleep(0.01)
    demand(campaign.poll() is None, "the campaign ended", "")
    campaign.send_signal(signal.SIGKILL)
    campaign.wait()
    demand_gone(program, "after SIGKILL of a campaign")


def check(at):
    for name, status in BUGGY.items():
        text = explore(at, name, [at.program(name)], 300, (10,))
        demand(f"exit status {status}\n" in text, f"{name}: another failure", text)
        replayed = re.search(r"(\d+) of (\d+) replays failed the same way", text)
        demand(replayed and replayed[1] == replayed[2], f"{name}: its replays differ", text)
        at.reweave("replay", at.folder / f"{name}.x" / "failure-1", accept=(status,))
        demand_gone(at.program(name), name)
    for name in CORRECT:
        text = explore(at, name, [at.program(name)], 300 if LONG else 80, (0,))
        demand("0 distinct failures" in text, f"{name}: a correct program failed", text)
        demand_gone(at.program(name), name)
    # A shell, whose child is another program.
    text = explore(at, "shell", ["sh", "-c", f"echo one; {at.program('executed_race')}"], 300, (10,))
    demand("exit status 1\n" in text, "a shell's child: another failure", text)
    demand(" writes count in work (executed_race.c:" in text, "a shell's child: a place lacks its name", text)
    check_killed(at)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
