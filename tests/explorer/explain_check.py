#!/usr/bin/env python3
"""Tests `explain` on the subject programs: the cause is the order that the program's comment names."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import jsonschema

from checking import demand, failing, main, subjects

# Program, then a part of the first sentence, and the lines of its events in the order in which it names them.
CAUSES = {
    "bank_account": ("writes balance", [27, 23, 27]),
    "check_then_use": ("writes session", [30, 24, 24]),
    "double_fetch": ("writes message", [35, 25, 26]),
    "download_accelerator": ("writes written", [20, 20, 20]),
    "join_missing": ("frees *open_log in close_log", [19, 24]),
    "lock_order": ("holds first", [23, 33, 24, 23, 39, 24]),
    "lost_notify": ("reads ready", [18, 29, 31, 20]),
    "null_after_reset": ("writes cache", [42, 22, 28]),
    "sleep_as_order": ("reads result", [21, 13]),
    "wrong_lock": ("writes total", [23, 23, 23]),
}
SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "docs" / "explanation.schema.json"
PATIENT = ("--seconds", "300")  # enough for all experiments, also on a busy machine


def check(at):
    for name in subjects(CAUSES, "bank_account", "check_then_use", "join_missing", "lock_order", "lost_notify"):
        words, lines = CAUSES[name]
        report = json.loads(at.reweave("explain", failing(at, name), "--json", *PATIENT))
        validator().validate(report)
        sentence = report["cause"].splitlines()[0]
        demand(words in sentence, f"{name}: another cause is named", sentence)
        named = [int(line) for line in re.findall(r"\.cc?:(\d+)\)", sentence)]
        demand(named == lines, f"{name}: other lines are named", sentence)
        numbers_agree(name, report)
    recording = at.folder / "bank_account.found" / "failure-1"
    the_same_twice(at, recording)
    interrupted(at, recording)
    nothing_to_explain(at)
    hidden_error(at)


def validator():
    """Returns a validator of the schema that also rejects members that the schema does not describe."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)

    def close(part):
        if isinstance(part, dict):
            if part.get("type") == "object":
                part["additionalProperties"] = False
            part = list(part.values())
        if isinstance(part, list):
            for one in part:
                close(one)

    close(schema)
    return jsonschema.Draft7Validator(schema)


def numbers_agree(name, report):
    """The figures in the cause are those of the first flip, or of the orders that fail only together."""
    if report["together"]:
        rates = [report["together"]["forced"], *(order["broken"] for order in report["together"]["orders"])]
        shares = [f"{rate['failed']} of {rate['tried']}" for rate in (report["base"], *rates)]
        demand(all(share in report["cause"] for share in shares), f"{name}: other figures", report["cause"])
        demand(rates[0]["failed"] == rates[0]["tried"], f"{name}: the orders do not make it fail", report["cause"])
        return
    flip = report["flips"][0]
    shares = [f"{rate['failed']} of {rate['tried']}" for rate in (flip["reversed"], report["base"], flip["forced"],
                                                                  flip["avoided"])]
    demand([share for share in shares if share not in report["cause"]] == [], f"{name}: other figures", report["cause"])
    demand(flip["necessary"] == (flip["reversed"]["failed"] == 0 and flip["reversed"]["tried"] > 0), name, flip)
    demand(flip["necessary"], f"{name}: it fails without its cause, too", report["cause"])
    for rate in (flip["reversed"], flip["forced"], flip["avoided"], report["base"]):
        demand(rate["low"] <= rate["failed"] / max(1, rate["tried"]) <= rate["high"], name, rate)
    demand(report["remedies"] and report["remedies"][-1]["rate"]["failed"] == 0, f"{name}: no remedy", report["remedies"])


def the_same_twice(at, recording):
    texts = [at.reweave("explain", recording, "--full", *PATIENT) for _ in range(2)]
    demand(texts[0] == texts[1], "two reports of one recording differ", "\n".join(texts))


def interrupted(at, recording):
    for seconds in (0.1, 0.4, 1, 4, 16):  # until the interrupt comes after the failing run was repeated
        process = subprocess.Popen([at.build / "reweave", "explain", recording, *PATIENT], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        text, errors = process.communicate(timeout=600)
        early = process.returncode in (130, -signal.SIGINT) and text == ""
        if not early:
            break
        demand(errors.count("\n") <= 1, "an early Ctrl-C says more than a line", errors)
    demand(process.returncode in (0, 130) and "The failure:" in text, "Ctrl-C leaves no report", text + errors)


def nothing_to_explain(at):
    passing = at.folder / "bank_account"
    demand("nothing to explain" in at.reweave("explain", passing, accept=(2,)), "a passing run is explained", "")
    always = at.folder / "always"
    at.reweave("record", "-o", always, "--", "/bin/false", accept=(1,))
    text = at.reweave("explain", always, accept=(11,))
    demand("there is only this one" in text and "\n1 run made" in text, "a program without threads is experimented with", text)
    demand("The cause" not in text and "runs that fail, by the order" not in text, "it has a cause in the order", text)


def hidden_error(at):
    """A recorded run that continues after a memory error is explained by that error."""
    os.environ["MALLOC_PERTURB_"] = "0"  # the contents of freed memory decide how the recorded run ends
    source, program, recording = (at.folder / name for name in ("hasty.cc", "hasty", "hasty.run"))
    lines = (pathlib.Path(__file__).with_name("causes") / "task_group.cc").read_text().splitlines()
    source.write_text("\n".join(line for line in lines if "sleep_for" not in line) + "\n")
    subprocess.run(["c++", "-g", "-O1", "-fsanitize=thread", "-pthread", source, "-o", program], check=True, timeout=600)
    # Most runs fail; whether the one with a certain seed does depends on when the clock preempts it.
    at.reweave("record", "--seed", 1, "--until-fail", 100, "-o", recording, "--", program, accept=range(1, 256))
    report = json.loads(at.reweave("explain", recording, "--json", *PATIENT))
    first, *others = report["failure"].splitlines()
    demand(first.startswith("use after free") and "TaskGroup" in first, "the memory error is not told", report["failure"])
    demand(len(others) == 1 and "ended so: " in others[0], "the recorded end is not told", report["failure"])
    demand("frees" in report["cause"], "the release is not the cause", report["cause"])


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
