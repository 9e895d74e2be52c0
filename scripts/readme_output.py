#!/usr/bin/env python3
"""Runs the commands in README.md's ```console blocks and compares their output with the page.

    scripts/readme_output.py            exit status 1 if the page is no longer true
    scripts/readme_output.py --write    replaces the output in the page with the real one

A line "$ command" is run; the lines up to the next one are its output, standard error included. Numbers and addresses
may differ, and so may white space. A line "..." matches any lines. All commands of the page share
one shell in a scratch folder that has `build` and `tests` of this tree, with `reweave` on the PATH.
"""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(^```console\n)(.*?)(^```$)", re.M | re.S)
MARK = "@@reweave-end-of-command@@"
SHOWN = 14  # longer output is cut in the middle by --write
LIMIT = 600


def split_commands(block):
    """[(command, [lines of output])] of one block."""
    commands = []
    for line in block.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands:
            commands[-1][1].append(line)
        else:
            raise ValueError(f"a console block begins with output: {line!r}")
    return commands


def normalise(line):
    """The line without the parts that may differ between runs."""
    line = re.sub(r"0x[0-9a-f]+|\b[0-9a-f]{16,40}\b", "N", line)
    line = re.sub(r"\d[\d,.]*", "N", line)
    return re.sub(r"\s+", " ", line).strip()


def same(expected, actual):
    """True if the lines match; "..." in `expected` matches any number of lines."""
    if not expected:
        return not actual
    if expected[0].strip() == "...":
        return any(same(expected[1:], actual[i:]) for i in range(len(actual) + 1))
    return bool(actual) and normalise(expected[0]) == normalise(actual[0]) and same(expected[1:], actual[1:])


def run_all(commands, folder):
    """The lines that each command prints, run one after the other in one shell."""
    for name in ("build", "tests", "scripts"):
        (folder / name).symlink_to(ROOT / name)
    script = "".join(f"{command}\necho '{MARK}'\n" for command in commands)
    environment = dict(os.environ, PATH=f"{ROOT / 'build'}:{os.environ['PATH']}", REWEAVE_DIR=str(folder / "recordings"),
                       LC_ALL="C.UTF-8")
    done = subprocess.run(["bash"], input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", cwd=folder, env=environment, timeout=LIMIT, check=False)
    outputs = done.stdout.split(MARK + "\n")[:-1]
    clean = [[line.rstrip() for line in output.replace(f"{folder}/", "").splitlines()] for output in outputs]
    return clean + [["(not run)"]] * (len(commands) - len(clean))


def abridge(lines):
    """At most SHOWN lines, with "..." in place of the middle."""
    half = SHOWN // 2
    return lines if len(lines) <= SHOWN else lines[:half] + ["..."] + lines[-half:]


def rewrite(text, outputs):
    """The page with its outputs replaced by `outputs`, a list of lines for each command."""
    remaining = iter(outputs)

    def block(match):
        lines = []
        for command, expected in split_commands(match[2]):
            actual = next(remaining)
            # Output that was shortened by hand, and is still true, stays short.
            kept = expected if expected and same(expected, actual) else abridge(actual)
            lines += ["$ " + command, *kept]
        return match[1] + "".join(line + "\n" for line in lines) + match[3]

    return BLOCK.sub(block, text)


def report(command, expected, actual):
    print(f"README.md: the output of `{command}` is not as the page says:")
    for line in difflib.unified_diff(expected, actual, "the page", "now", lineterm=""):
        print("  " + line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("page", nargs="?", type=pathlib.Path, default=ROOT / "README.md")
    arguments = parser.parse_args()
    text = arguments.page.read_text(encoding="utf-8")
    commands = [pair for match in BLOCK.finditer(text) for pair in split_commands(match[2])]
    with tempfile.TemporaryDirectory(prefix="reweave-readme-") as folder:
        outputs = run_all([command for command, _ in commands], pathlib.Path(folder))
    if arguments.write:
        arguments.page.write_text(rewrite(text, outputs), encoding="utf-8")
        return 0
    wrong = 0
    for (command, expected), actual in zip(commands, outputs):
        if not same(expected, actual):
            wrong += 1
            report(command, expected, actual)
    print(f"{len(commands) - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
