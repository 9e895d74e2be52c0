#!/usr/bin/env python3
"""Lists long files and functions. A hint for reviewers: never fails.

Good code clusters at 80 to 200 lines a file, and 19 functions of 20 stay below 60.
"""
import json
import pathlib
import subprocess
import sys

LAYERS = ("formats", "recorder", "replayer", "explorer", "predictor")
FILE_LINES = 300
FUNCTION_LINES = 60


def functions(root, files):
    """Yields (lines, where, name) for every function."""
    command = ["ctags", "--output-format=json", "--fields=+ne", "--kinds-C++=f", "--kinds-C=f", "-f", "-", "-L", "-"]
    try:
        tags = subprocess.run(command, input="\n".join(files), text=True, capture_output=True, cwd=root, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as problem:
        print(f"size: functions not measured: {problem}")
        return
    for tag in map(json.loads, tags.splitlines()):
        if "end" in tag:
            yield tag["end"] - tag["line"] + 1, f"{tag['path']}:{tag['line']}", tag["name"]


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    files = [p.relative_to(root).as_posix() for layer in LAYERS for p in sorted((root / layer).rglob("*"))
             if p.suffix in (".h", ".cc")]
    for path in files:
        lines = (root / path).read_text(encoding="utf-8").count("\n")
        if lines > FILE_LINES:
            print(f"size: {path} has {lines} lines")
    for lines, where, name in sorted(functions(root, files), reverse=True):
        if lines > FUNCTION_LINES:
            print(f"size: {where} {name} has {lines} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
