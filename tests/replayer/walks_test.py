#!/usr/bin/env python3
"""Random walks forward and backward in recordings end where a straight replay to the same position stands: registers and
memory are equal.

    walks_test.py REWEAVE [--walks N] [--moves N] [--seed N] [--keep FOLDER] PROGRAM[,ARGUMENT]...
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

from remote import Remote

LIMIT_SECONDS = 600
PIE_BASE = 0x555555554000


def symbols(program, kinds):
    """Returns (address, size) of the program's own functions or variables."""
    listed = subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"(?m)^([0-9a-f]+) ([0-9a-f]+) (\w) (\w+)$", listed)
    kind = subprocess.run(["readelf", "-h", program], capture_output=True, text=True, check=True).stdout
    base = PIE_BASE if "DYN" in kind else 0
    return [(base + int(address, 16), int(size, 16)) for address, size, letter, name in rows
            if letter in kinds and not name.startswith("_")]


class Walker:
    """Makes random moves in a recording."""

    def __init__(self, remote, program, dice):
        self.remote, self.dice = remote, dice
        self.functions = [address for address, _ in symbols(program, "tT")]
        self.variables = [(address, size) for address, size in symbols(program, "bBdD") if size in (1, 2, 4, 8)]
        self.log = []

    def note(self, what, stop):
        self.log.append((what, stop[:60]))
        return stop

    def among(self, kind, places, motion):
        """Makes the motion with breakpoints or watchpoints at some of `places`. Returns its answer."""
        chosen = self.dice.sample(places, min(len(places), self.dice.choice((1, 2, 3))))
        for place in chosen:
            self.remote.ask("Z" + kind % place)
        stop = motion()
        for place in chosen:
            self.remote.ask("z" + kind % place)
        return stop

    def breaks(self, motion):
        # gdb first steps from its current place, and then plants breakpoints.
        self.remote.step() if motion == self.remote.go_on else None
        return self.among("0,%x,1", self.functions, motion)

    def watches(self, motion):
        if not self.variables:
            return self.breaks(motion)
        return self.among("2,%x,%x", self.variables, motion)

    def move(self):
        remote = self.remote
        moves = {"step": remote.step, "step back": remote.step_back, "go on": lambda: self.breaks(remote.go_on),
                 "back": lambda: self.breaks(remote.back), "watch": lambda: self.watches(remote.go_on),
                 "watch back": lambda: self.watches(remote.back)}
        what = self.dice.choices(list(moves), (3, 4, 4, 4, 1, 2))[0]
        return self.note(what, moves[what]())


def state(remote):
    return remote.registers(), remote.monitor("hash")


def walk(reweave, recording, program, dice, moves):
    """Returns the problem, or None, and the number of moves made."""
    remote = Remote(reweave, recording, 1)
    walker = Walker(remote, program, dice)
    made = 0
    while made < moves:
        stop = walker.move()
        made += 1
        if stop[0] in "WX":  # past the end: start again at the beginning
            remote.close()
            remote = walker.remote = Remote(reweave, recording, 1)
        elif stop[0] != "T":
            remote.socket.close()
            return "a motion failed: %s\n%s" % (walker.log, remote.stub.communicate()[1]), made
    while "runtime" in (position := remote.monitor("position")):
        if remote.step()[0] in "WX":
            remote.close()
            return None, made
    walked = state(remote)
    remote.close()
    straight = Remote(reweave, recording, position)
    expected, name = state(straight), straight.monitor("position")
    straight.close()
    if walked != expected:
        which = "registers" if walked[0] != expected[0] else "memory"
        return "at %s other %s\n%s" % (position, which, walker.log), made
    return (None if name == position else "%s is called %s" % (position, name)), made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reweave")
    parser.add_argument("--walks", type=int, default=2, help="of each program")
    parser.add_argument("--moves", type=int, default=8, help="of each walk")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    walks = differences = moves = 0
    with tempfile.TemporaryDirectory(prefix="reweave-walks-") as folder:
        for number, command in enumerate(arguments.programs):
            program, *rest = command.split(",")
            recording = os.path.join(folder, str(number))
            subprocess.run([arguments.reweave, "record", "--chaos", "--seed", "1", "-o", recording, "--", program, *rest],
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_SECONDS, check=False)
            for index in range(arguments.walks):
                dice = random.Random("%d %d %d" % (arguments.seed, number, index))
                problem, made = walk(arguments.reweave, recording, program, dice, arguments.moves)
                walks, moves = walks + 1, moves + made
                if problem is not None:
                    differences += 1
                    print("%s, walk %d: %s" % (command, index, problem), flush=True)
    print("%d walks, %d moves, %d differences" % (walks, moves, differences))
    return 1 if differences or not walks else 0


if __name__ == "__main__":
    sys.exit(main())
