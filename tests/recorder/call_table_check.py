#!/usr/bin/env python3
"""Compares the table of system calls with the kernel's header: every number must have a row with the same name."""
import pathlib
import re
import sys

ROWS = pathlib.Path(__file__).resolve().parents[2] / "recorder/core/syscalls/rows.inc"
HEADER = pathlib.Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")


def problems(rows, header):
    for number, name in header.items():
        if number not in rows:
            yield f"{name} ({number}) has no row"
        elif rows[number] != name:
            yield f"row {number} is called {rows[number]}, the kernel calls it {name}"


def main():
    rows = {int(n): name for n, name in re.findall(r'ROW\((\d+), "(\w+)"', ROWS.read_text())}
    header = {int(n): name for name, n in re.findall(r"#define __NR_(\w+) (\d+)", HEADER.read_text())}
    if len(header) < 300 or not list(problems({}, header)):
        sys.exit("cannot check: found fewer than 300 system calls in asm/unistd_64.h")
    found = list(problems(rows, header))
    print("\n".join(found) or f"{len(header)} calls, each with its row")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
