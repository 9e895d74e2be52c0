#!/usr/bin/env python3
"""`explain --save`, and what gdb shows afterwards: `replay -g inevitable` stops at the moment that `explain` found, and
`-g end` stops in the user's frame."""
import json
import re
import sys

from checking import demand, main


def check(at):
    recording, found = at.folder / "recording", at.folder / "found"
    at.reweave("record", "--seed", 1, "-o", recording, "--", at.program("bank_account"))
    at.reweave("explore", recording, "--first", "--verify", 1, "-o", found, accept=(10,))
    failure = found / "failure-1"
    (failure / "explanation.json").unlink()
    text = at.reweave("replay", "-g", "inevitable", "--gdb-batch", "bt", failure, accept=(2,))
    demand("no explanation was saved" in text and text.count("\n") == 1, "another message without one", text)
    at.reweave("explain", "--seconds", 120, "--save", failure)
    report = json.loads((failure / "explanation.json").read_text())
    inevitable(at, failure, report["inevitable_step"])
    short(at, failure, report)
    end(at, failure)
    backward(at, failure)


def inevitable(at, failure, step):
    for _ in range(2):  # the moment is the same each time
        text = at.reweave("replay", "-g", "inevitable", "--gdb-batch", "info threads;bt 1;printf \"seen %ld\\n\", balance",
                          failure)
        demand("From here on every run fails" in text, "it does not come to the moment", text)
        thread = re.search(r'^\* .*"t(\d+) tid', text, re.M)
        demand(thread and int(thread[1]) == step["thread"], "another thread is selected", text)
        demand(f"{step['function']} (" in text, "another function", f"{step}\n{text}")


def short(at, failure, report):
    """An explanation without the curve, as `explore` writes it, and damaged ones, give a message of one line."""
    path = failure / "explanation.json"
    path.write_text(json.dumps({**report, "curve": [], "inevitable": None, "inevitable_step": None}))
    text = at.reweave("replay", "-g", "inevitable", "--gdb-batch", "bt", failure, accept=(2,))
    demand("explain --save" in text and text.count("\n") == 1, "another message without a curve", text)
    for damaged in ("", "[]", '{"curve": [1], "inevitable_step": {"thread": "x"}}'):
        path.write_text(damaged)
        text = at.reweave("replay", "-g", "inevitable", "--gdb-batch", "bt", failure, accept=(2,))
        demand(text.startswith("reweave: ") and text.count("\n") == 1, "another message if it is damaged", text)


def end(at, failure):
    text = at.reweave("replay", "-g", "end", "--gdb-batch", "frame;print balance", failure)
    demand(re.search(r"^#\d+ .*audit \(\) at .*bank_account.c:34", text, re.M), "not in the user's frame", text)
    demand("$1 = " in text, "the user's variables are not there", text)


def backward(at, failure):
    """Steps back from the signal that ended all threads, including the first."""
    text = at.reweave("replay", "-g", "end", "--backward", "--gdb-batch",
                      'reverse-stepi;printf "one back\\n";reverse-next;printf "further back\\n"', failure)
    demand("\none back\n" in text and "\nfurther back\n" in text, "no step back from the end", text)
    demand(not re.search("No more reverse|did not reach|Error occurred|Remote failure", text), "a step back failed", text)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
