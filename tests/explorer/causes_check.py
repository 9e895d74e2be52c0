#!/usr/bin/env python3
"""The cause that `explain` names is the one that the program's lines mark.

The programs in causes/*.cc are written like ordinary programs. `//!` marks a line that the first sentence of the cause
must name, `//?` a line that it may name. It must name no other line. Some have a correct twin, *_ok.cc, which
`scripts/bench explain` compares them with. --show prints the causes of all programs.
"""
import json
import pathlib
import re
import subprocess
import sys

from checking import demand, failing, main, subjects

FOLDER = pathlib.Path(__file__).with_name("causes")
SHOW = "--show" in sys.argv
PATIENT = ("--seconds", "300")  # enough for all experiments, also on a busy machine
IN_CI = ("accounts", "enrolment", "event_bus", "gate", "route_cache", "settings", "stale_cache", "viewport")
USES_GOOGLE_TEST = {"limiter"}


def marked(source, mark):
    return {number for number, line in enumerate(source.read_text().splitlines(), 1) if line.rstrip().endswith(mark)}


def built(at, name):
    program = at.folder / f"{name}.program"
    libraries = ["-lgtest", "-lgtest_main"] if name in USES_GOOGLE_TEST else []
    subprocess.run(["c++", "-g", "-O1", "-std=c++17", "-fsanitize=thread", "-pthread", FOLDER / f"{name}.cc", "-o", program,
                    *libraries], check=True, timeout=600)
    return program


def check(at):
    source_names = sorted(path.stem for path in FOLDER.glob("*.cc") if not path.stem.endswith("_ok"))
    if not pathlib.Path("/usr/include/gtest/gtest.h").exists():
        source_names = [name for name in source_names if name not in USES_GOOGLE_TEST]
    for name in subjects(source_names, *(source_names if SHOW else IN_CI)):
        source = FOLDER / f"{name}.cc"
        report = json.loads(at.reweave("explain", failing(at, name, built(at, name)), "--json", *PATIENT, accept=(0, 11)))
        sentence = report["cause"].split("\n")[0]
        named = {int(line) for line in re.findall(rf"\({name}\.cc:(\d+)\)", sentence)}
        if SHOW:
            print(f"== {name}: {report['failure']}\n{report['cause']}")
            for remedy in report["remedies"]:
                print(f"  remedy: {remedy['text']}: {remedy['rate']['failed']} of {remedy['rate']['tried']}")
            print(f"  missing {sorted(marked(source, '//!') - named)}, wrong {sorted(named - marked(source, '//!') - marked(source, '//?'))}",
                  flush=True)
            continue
        demand(report["cause_shown"] or report["deadlock"], f"{name}: no cause is shown", report["cause"])
        demand(marked(source, "//!") <= named, f"{name}: the cause lacks {sorted(marked(source, '//!') - named)}", sentence)
        allowed = marked(source, "//!") | marked(source, "//?")
        demand(named <= allowed, f"{name}: the cause names {sorted(named - allowed)}", sentence)


if __name__ == "__main__":
    if SHOW:
        sys.argv.remove("--show")
    sys.exit(main(check, __doc__))
