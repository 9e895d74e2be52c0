#!/usr/bin/env python3
"""Compares the table of subject programs with the build's list and with the files that exist.

Exit status 0 if tests/programs/subjects.json, tests/programs/meson.build and the sources agree.
"""
import json
import pathlib
import re
import sys

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "tests" / "programs"
KINDS = {"buggy", "correct", "behaviour"}
OUTCOMES = {"exit-status", "signal", "deadlock", "hang", "memory-error"}
FIELDS = {"name", "source", "language", "link_flags", "plain", "tsan", "kind", "argv", "stdin"}
OPTIONAL = {"words"}  # a regular expression that the report of the failure must match
LANGUAGES = {".c": "c", ".cc": "c++"}


def check_row(row):
    """Yields the problems of one row of the table."""
    name = row.get("name", "a row without a name")
    expected = FIELDS | ({"outcome", "needs"} if row.get("kind") == "buggy" else set())
    if set(row) - OPTIONAL != expected:
        yield f"{name}: the fields should be {sorted(expected)}"
        return
    source = pathlib.PurePosixPath(row["source"])
    if source.stem != name:
        yield f"{name}: the source is called {source}"
    if LANGUAGES.get(source.suffix) != row["language"]:
        yield f"{name}: language {row['language']} for {source}"
    if row["kind"] not in KINDS:
        yield f"{name}: unknown kind {row['kind']}"
    if row["kind"] == "buggy" and row["outcome"] not in OUTCOMES:
        yield f"{name}: unknown outcome {row['outcome']}"
    if row["kind"] == "buggy" and row["needs"] not in ("sync", "access"):
        yield f"{name}: unknown granularity {row['needs']}"
    if (row["kind"] == "behaviour") != (source.parts[0] == "behaviour"):
        yield f"{name}: kind {row['kind']} in {source.parent}"
    if not row["plain"] or row["tsan"] == ("-static" in row["link_flags"]):
        yield f"{name}: the builds differ from what meson.build makes of this kind"


def main():
    rows = json.loads((PROGRAMS / "subjects.json").read_text())
    problems = [problem for row in rows for problem in check_row(row)]
    table = [row["source"] for row in rows]
    built = re.findall(r"'([\w/]+\.cc?)'", (PROGRAMS / "meson.build").read_text())
    present = [p.relative_to(PROGRAMS).as_posix() for p in PROGRAMS.rglob("*.c*") if p.suffix in LANGUAGES]
    static = re.findall(r"static_sources = files\('([\w/.]+)'\)", (PROGRAMS / "meson.build").read_text())
    if static != [row["source"] for row in rows if "-static" in row["link_flags"]]:
        problems.append("the statically linked programs differ between meson.build and the table")
    for what, sources in (("subjects.json", table), ("meson.build", built), ("the folder", present)):
        problems += [f"{s} is twice in {what}" for s in sorted(set(sources)) if sources.count(s) > 1]
        problems += [f"{s} is missing from {what}" for s in sorted(set(table + built + present) - set(sources))]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(rows)} subject programs, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
