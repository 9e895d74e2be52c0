#!/usr/bin/env python3
"""Dialogues with gdb on a recording: what works in gdb on a live program works on its recording.

    dialogues_test.py REWEAVE PROGRAM [--live] [--show] [NAME...]

dialogues.json has the commands, and the regular expressions that the answer must match, in that order. With --live gdb runs
the program itself instead, without the dialogues about replays. This shows whether the expectations are right.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LIMIT_SECONDS = 600
ALWAYS_WRONG = ("Traceback (most recent call last)", "Python Exception", "Divergence", "internal error",
                "Cannot insert breakpoint", "reweave::", "Error while running hook_stop")


def converse(command):
    """Returns gdb's output (both streams) and exit status. The status is None if gdb hangs."""
    try:
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", timeout=LIMIT_SECONDS, check=False)
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(errors="replace") + "\n(does not come back)", None
    return ran.stdout, ran.returncode


def missing(output, expected):
    """Returns the first expectation that is not met, or None."""
    at = 0
    for pattern in expected:
        found = re.compile(pattern).search(output, at)
        if found is None:
            return pattern
        at = found.start()
    return None


def gdb_calls_functions(program):
    """False if gdb cannot write registers, and so cannot call functions, in any program: gdb 13 on processors with AMX,
    for whose registers it has no room."""
    output, _ = converse(["gdb", "-q", "-nx", "-batch", "-ex", "break main", "-ex", "run", "-ex", "print (int)getpid()",
                          program])
    return "Couldn't write extended state" not in output


def check(arguments, recording, dialogue):
    """Returns the problem, or None, and gdb's output."""
    if arguments.live:
        commands = ["set confirm off", "starti", *dialogue["say"]]
        command = ["gdb", "-q", "-nx", "-batch", *(word for said in commands for word in ("-ex", said)), arguments.program]
    else:
        quoted = ";".join(said.replace(";", ",") for said in dialogue["say"])
        backward = ["--backward"] if dialogue.get("backward") else []
        command = [arguments.reweave, "replay", "-g", "1", *backward, "--gdb-batch", quoted, recording]
    output, status = converse(command)
    pattern = missing(output, dialogue["expect"])
    if pattern is not None:
        return f"not in the answer: {pattern}", output
    if not arguments.live:
        for wrong in ALWAYS_WRONG:
            if wrong in output:
                return f"in the answer: {wrong}", output
    return ("does not come back" if status is None else None), output


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reweave")
    parser.add_argument("program")
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--show", action="store_true", help="what gdb writes, also where it is right")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    dialogues = json.loads((pathlib.Path(__file__).parent / "dialogues.json").read_text(encoding="utf-8"))
    dialogues = [d for d in dialogues if (not arguments.names or d["name"] in arguments.names)
                 and not (arguments.live and d.get("not_live"))]
    if any(d.get("calls") for d in dialogues) and not gdb_calls_functions(arguments.program):
        left_out = [d["name"] for d in dialogues if d.get("calls")]
        dialogues = [d for d in dialogues if not d.get("calls")]
        print(f"skipped: gdb cannot write this processor's registers: {', '.join(left_out)}")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="reweave-dialogues-") as folder:
        recording = os.path.join(folder, "recording")
        if not arguments.live:
            subprocess.run([arguments.reweave, "record", "--seed", "1", "-o", recording, "--", arguments.program],
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_SECONDS, check=True)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            answers = pool.map(lambda dialogue: check(arguments, recording, dialogue), dialogues)
            for dialogue, (problem, output) in zip(dialogues, answers):
                failed += problem is not None
                if problem is not None or arguments.show:
                    print(f"=== {dialogue['name']}: {problem}\n{output}", flush=True)
    print(f"{len(dialogues)} dialogues, {failed} failed")
    return 1 if failed or not dialogues else 0


if __name__ == "__main__":
    sys.exit(main())
