#!/usr/bin/env python3
"""Candidates of a run so long that witnesses omit its beginning: turns of threads lead to them, and all fail."""
import re
import sys

from checking import demand, main

PASSES = "90"  # some 550,000 events; a witness has 20,000 steps at the most


def check(at):
    follow(at, "plain", ["--seed", "1"])
    # In these recordings threads take turns, so that witnesses depart from the recorded order early.
    for seed in ("104", "106"):
        follow(at, f"chaos-{seed}", ["--chaos", "--seed", seed])


def follow(at, name, how):
    folder = at.folder / name
    folder.mkdir()
    recording, trace, candidates, found = (folder / part for part in ("r", "t.rwt", "c", "found"))
    at.reweave("record", *how, "-o", recording, "--", at.program("long_private_work"), PASSES, accept=(0, 1))
    at.reweave("trace", recording, "-o", trace)
    at.reweave("predict", trace, "-o", candidates)
    text = at.reweave("explore", recording, "--candidates", candidates, "--strategy", "witness", "--verify", "0",
                      "--minimise", "0", "-o", found, accept=(10,))
    verdicts = re.findall(r"^candidate \d+ .*", text, re.M)
    demand(verdicts and all("witness was followed to the end; the run failed" in line for line in verdicts),
           "a witness was not followed", text)
    # One run more than there are candidates: a failure counts only if the recorded order passes when it is repeated.
    demand(re.search(rf"^{len(verdicts) + 1} runs", text, re.M), "witnesses were tried in several orders", text)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
