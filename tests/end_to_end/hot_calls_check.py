#!/usr/bin/env python3
"""Hot system calls and clock reads are patched when recording, and replayed as recorded, with and without the patches."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

FEWEST = {"hot_calls": 15, "hot_clock": 10}  # patches: forms of code in the program, functions of the C library
UNMAPPED = ("hot_calls",)  # programs that unmap code and map it again


def run(*command):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=600, errors="replace")
    return done.returncode, done.stdout, done.stderr


def problems(reweave, program, folder):
    recording = folder / program.name
    status, printed, errors = run(reweave, "record", "-o", recording, "--", program)
    if status != 0:
        yield f"recording ended with {status}: {errors}"
        return
    _, dumped, _ = run(reweave, "dump", recording)
    places = re.findall(r"patched the instruction before (0x[0-9a-f]+)", dumped)
    if len(places) < FEWEST[program.name]:
        yield f"only {len(places)} calls were patched"
    if program.name in UNMAPPED and len(set(places)) >= len(places):
        yield "code that was unmapped and mapped again was not patched again"
    status, replayed, errors = run(reweave, "replay", recording)
    if status != 0 or replayed != printed:
        yield f"the replay ended with {status}: {errors}"
    status, debugged, errors = run(reweave, "replay", "-g", "end", "--gdb-batch", "bt", recording)
    if status != 0 or "main (" not in debugged and "_exit" not in debugged:
        yield f"under gdb, without patches, the replay ended with {status}: {debugged} {errors}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build
    with tempfile.TemporaryDirectory(prefix="reweave-hot-calls-") as folder:
        found = [f"{name}: {problem}" for name in FEWEST
                 for problem in problems(build / "reweave", build / "tests/programs/plain" / name, pathlib.Path(folder))]
    print("\n".join(found) or "hot calls are patched, and replayed with and without")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
