"""Whether `explain` names what the correct twin of each buggy program changes, and how long that takes."""
import difflib
import json
import re
import shutil
import statistics
import subprocess
import time

from benchmarks.common import REWEAVE, ROOT, SUBJECTS, Bench, Failed, run
from benchmarks.searching import failing_recording

PROGRAMS = ROOT / "tests" / "programs"
CAUSES = ROOT / "tests" / "explorer" / "causes"  # programs that are built here, each with its twin
# Twins whose name is not that of their program followed by "_ok".
TWINS = {"bounded_buffer_if": "bounded_buffer_ok", "refcount_uaf": "refcount_ok",
         "shutdown_use_after_free": "shutdown_ok"}
SECONDS = 30  # of explain
MOST_TOUCHED = 0.5  # of the lines: a twin that changes more than that does not show where the bug is


class ExplainBench(Bench):
    """A pair of events is true if the twin changes the line of one of them, or its surroundings: what the twin deletes or
    replaces, the lines around what it adds, and what it puts between a new lock and its unlock or the end of its scope. A
    remedy overlaps if one of the lines that it names is among these. Every second program, by name, belongs to the half
    that explain was tuned on."""

    def show(self):
        rows = []
        for row in subjects():
            try:
                rows.append(self.judge(row))
            except Failed as problem:
                rows.append((row["name"], None, None, 0))
                print(f"  {row['name']:<26} {problem}", flush=True)
        print("\nexplain, on programs that have a correct twin")
        for title, part in (("tuned on", rows[::2]), ("other half", rows[1::2]), ("all", rows)):
            show_part(title, part)

    def judge(self, row):
        name, folder = row["name"], self.folder / row["name"]
        failure = self.failure(row, folder)
        start = time.perf_counter()
        _, text = run([REWEAVE, "explain", failure, "--json", "--seconds", SECONDS], accept=(0, 11),
                      output=subprocess.PIPE)
        seconds = time.perf_counter() - start
        report = json.loads(text[:text.rindex("}") + 1])
        touched = touched_lines(row["path"], twin_of(row["path"]))
        if len(touched) > MOST_TOUCHED * len(code_lines(row["path"])):
            raise Failed("its twin changes most of its lines")
        pair = bool(cause_lines(report) & touched)
        remedies = [remedy for remedy in report["remedies"] if remedy["rate"]["failed"] == 0 and remedy["rate"]["tried"]]
        remedy = bool(remedies) and bool(remedy_lines(remedies[0], row["path"].name) & touched)
        print(f"  {name:<26} pair {'yes' if pair else 'no':<4} remedy {'yes' if remedy else 'no':<4} {seconds:5.1f} s  "
              f"{report['cause'].splitlines()[0] if report['cause'] else 'no cause'}", flush=True)
        shutil.rmtree(folder)
        return name, pair, remedy, seconds

    @staticmethod
    def failure(row, folder):
        """A recording that fails, found from one that passes."""
        folder.mkdir()
        program = [SUBJECTS / "tsan" / f"{row['name']}.tsan", *row["argv"]]
        if row["path"].parent == CAUSES:
            program = [folder / "program"]
            libraries = ["-lgtest", "-lgtest_main"] if "gtest/" in row["path"].read_text() else []
            run(["c++", "-g", "-O1", "-std=c++17", "-fsanitize=thread", "-pthread", row["path"], "-o", *program, *libraries])
        return failing_recording(program, folder)


def subjects():
    rows = json.loads((PROGRAMS / "subjects.json").read_text())
    rows = [{**row, "path": PROGRAMS / row["source"]} for row in rows if row["kind"] == "buggy" and row["tsan"]]
    rows += [{"name": path.stem, "path": path, "argv": []} for path in CAUSES.glob("*.cc")]
    return sorted((row for row in rows if twin_of(row["path"])), key=lambda row: row["name"])


def twin_of(path):
    twin = path.with_name(TWINS.get(path.stem, path.stem + "_ok") + path.suffix)
    return twin if twin.exists() else None


def code_lines(path):
    """(number, text) of the lines with code: without comments and blanks."""
    text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), path.read_text(), flags=re.S)
    lines = [(number, re.sub(r"//.*", "", line).strip()) for number, line in enumerate(text.splitlines(), 1)]
    return [(number, line) for number, line in lines if line]


def touched_lines(source, twin):
    """Numbers of the lines of the buggy program that its twin changes."""
    old, new = code_lines(source), code_lines(twin)
    opcodes = difflib.SequenceMatcher(None, [line for _, line in old], [line for _, line in new], autojunk=False).get_opcodes()
    hunks = [hunk for hunk in opcodes if hunk[0] != "equal"]
    same = {new_begin + i: begin + i for kind, begin, end, new_begin, _ in opcodes if kind == "equal" for i in range(end - begin)}
    touched, locked_from = set(), None
    for _, begin, end, new_begin, new_end in hunks:
        touched.update(number for number, _ in old[max(begin - 1, 0):end + 1])
        touched.update(old[same[i]][0] for i in guarded(new, new_begin, new_end) if i in same)
        added = " ".join(line for _, line in new[new_begin:new_end])
        locks, unlocks = len(re.findall(r"[^n]lock\(", added)), added.count("unlock(")
        if unlocks and locked_from is not None:
            touched.update(number for number, _ in old[locked_from:begin + 1])
        locked_from = end if locks > unlocks else None
    return touched


def guarded(lines, begin, end):
    """Indices of the lines in the scope of a lock's guard that lines[begin:end] declare."""
    for guard in range(begin, end):
        if not re.search(r"\b(lock_guard|scoped_lock|unique_lock)\b", lines[guard][1]):
            continue
        depth = 0
        for i in range(guard + 1, len(lines)):
            depth += lines[i][1].count("{") - lines[i][1].count("}")
            if depth < 0:
                break
            yield i


def cause_lines(report):
    if report["deadlock"]:
        return {line for wait in report["deadlock"] for step in (wait["holds"], wait["wants"]) for line in lines_of(step)}
    if not report["flips"]:
        return set()
    flip = report["flips"][0]
    steps = list(flip["block"].values()) if "block" in flip else [flip["first"], flip["then"]]
    if report["together"]:
        steps = [order[name] for order in report["together"]["orders"] for name in ("first", "then")]
    return {line for step in steps for line in lines_of(step)}


def lines_of(step):
    callers = re.findall(r":(\d+)\)", step.get("called_by", ""))
    return [*([step["line"]] if "line" in step else []), *map(int, callers)]


def remedy_lines(remedy, file):
    """The lines of the file that the remedy's text names: "f (a.cc:3)" or "f (a.cc:3-7)"."""
    named = re.findall(rf"\({re.escape(file)}:(\d+)(?:-(\d+))?\)", remedy["text"])
    return {line for first, last in named for line in range(int(first), int(last or first) + 1)}


def show_part(title, rows):
    judged = [row for row in rows if row[1] is not None]
    if not judged:
        return
    seconds = [row[3] for row in judged]
    print(f"  {title:<12} {len(judged)} programs, pair first {share(judged, 1)}, smallest remedy overlaps "
          f"{share(judged, 2)}, {statistics.median(seconds):.1f} s (max {max(seconds):.1f} s)", flush=True)


def share(rows, column):
    good = sum(row[column] for row in rows)
    return f"{good} of {len(rows)} ({100 * good / len(rows):.0f} %)"
