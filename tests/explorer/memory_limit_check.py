#!/usr/bin/env python3
"""Under an address-space limit, a correct program is explored as without one, or a message says to raise it."""
import resource
import subprocess
import sys

from checking import demand, main

LIMITS = (1 << 40, 1 << 36, 1 << 33)


def limited(soft, hard):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def check(at):
    good = at.folder / "good"
    at.reweave("record", "--seed", "1", "-o", good, "--", at.program("lost_notify_ok"))
    for number, bound in enumerate(LIMITS):
        for hard in (resource.RLIM_INFINITY, bound):
            output = at.folder / f"found-{number}-{hard}"
            command = [at.build / "reweave", "explore", good, "--runs", "10", "-o", output]
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, preexec_fn=limited(bound, hard))
            text = done.stdout + done.stderr
            explored = done.returncode == 0 and "0 distinct failures" in text
            refused = done.returncode not in (0, 10) and "ulimit -v" in text
            demand(explored or (hard == bound and refused), f"limit {bound}, hard {hard}", text)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
