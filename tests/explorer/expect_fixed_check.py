#!/usr/bin/env python3
"""`explore --expect-fixed`: it reports rebuilt programs as fixed, failing as before, or failing in another way."""
import json
import pathlib
import subprocess
import sys

from checking import demand, main, subjects

PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "programs"


DELETED = """
#include <thread>
struct Job {
  int cost = 3;
};
static Job* volatile job;
static int total;
static void work() {
  if (job != nullptr) total += job->cost;
}
static void cancel() {
  Job* mine = job;
  job = nullptr;
  delete mine;
}
int main() {
  job = new Job;
  std::thread one(work), other(cancel);
  one.join();
  other.join();
}
"""


def build(at, text, name="program", suffix=".c"):
    source = at.folder / f"source{suffix}"
    source.write_text(text)
    subprocess.run(["cc" if suffix == ".c" else "c++", "-g", "-O1", "-fsanitize=thread", "-pthread", source, "-o", at.folder / name], check=True,
                   timeout=600)
    return at.folder / name


def check(at):
    for name in subjects(["bank_account", "check_then_use", "lock_order"], "bank_account", "lock_order"):
        buggy = (PROGRAMS / f"{name}.c").read_text()
        old = old_failure(at, name, buggy)
        unchanged(at, name, old, buggy)
        is_fixed(at, name, old)
        still_fails(at, name, old, buggy)
    deleted(at)
    old = at.folder / "bank_account.found" / "failure-1"
    moved(at, old)
    unknown(at, old)
    without_explanation(at, old)


def old_failure(at, name, text):
    """Returns a failing recording of a program. Later builds overwrite the program."""
    recording, found = at.folder / name, at.folder / f"{name}.found"
    at.reweave("record", "--seed", 1, "-o", recording, "--", build(at, text))
    at.reweave("explore", recording, "--first", "--verify", 1, "-o", found, accept=(10,))
    return found / "failure-1"


def expect_fixed(at, old, *words, accept):
    number = len(list(at.folder.glob("again-*")))
    text = at.reweave("explore", "--expect-fixed", old, "--runs", 300, "--verify", 1, "-o",
                      at.folder / f"again-{number}", *words, accept=accept)
    return text


def report_of(at, old, program, accept):
    """Returns the JSON report, without the other messages."""
    text = expect_fixed(at, old, "--json", "--", program, accept=accept)
    return json.loads(text[text.index("{"):text.rindex("}") + 1])


def unchanged(at, name, old, buggy):
    """The program is unchanged, so the whole old schedule is followed, and fails."""
    schedule = report_of(at, old, build(at, buggy), (10,))["schedule"]
    demand(schedule["followed"] == schedule["turns"] and schedule["failed"], f"{name}: the schedule is not followed", schedule)


def deleted(at):
    """A step of a pair may be a `delete`, which the program makes as a call of the C++ library."""
    recording, found = at.folder / "deleted", at.folder / "deleted.found"
    program = build(at, DELETED, suffix=".cc")
    at.reweave("record", "--seed", 1, "-o", recording, "--", program)
    at.reweave("explore", recording, "--first", "--verify", 1, "-o", found, accept=(10,))
    pairs = report_of(at, found / "failure-1", program, (10,))["pairs"]
    demand(any("cancel" in pair["text"] for pair in pairs), "no pair has the release", pairs)
    demand(all(pair["found"] for pair in pairs), "a line with `delete` is not found", pairs)
    demand(any(pair["failed"] > 0 for pair in pairs), "the old order does not fail", pairs)


def is_fixed(at, name, old):
    program = build(at, (PROGRAMS / f"{name}_ok.c").read_text())
    report = report_of(at, old, program, (0,))
    demand(report["verdict"] == "fixed" and not report["failures"], f"{name}: its twin is not fixed", report)
    search = report["search"]
    demand(search["failed"] == 0 and search["examined"] > 250, f"{name}: another search", report)
    demand(abs(search["at_most"] - (1 - 0.05 ** (1 / search["examined"]))) < 1e-9, f"{name}: another bound", report)
    demand(all(pair["failed"] == 0 for pair in report["pairs"]), f"{name}: a pair fails", report)
    text = expect_fixed(at, old, "--", program, accept=(0,))
    for words in ("Fixed, as far as was tried", "The old schedule: ", f"0 of {search['examined']} runs fail (at most "):
        demand(words in text, f"{name}: '{words}' is not said", text)


def still_fails(at, name, old, buggy):
    """The bug remains, but all lines are further down, and all code is at other addresses."""
    moved_down = buggy.replace("#include <pthread.h>", "#include <pthread.h>\n\n\nint before_all(int a) {\n  return a * 3;\n}\n")
    demand(moved_down != buggy, name, "is not changed")
    report = report_of(at, old, build(at, moved_down), (10,))
    demand(report["verdict"] == "still fails", f"{name}: another verdict", report)
    demand(report["pairs"] and all(pair["found"] for pair in report["pairs"]), f"{name}: lines are not found", report)
    demand(any(pair["failed"] for pair in report["pairs"]), f"{name}: the old order does not fail", report)
    schedule = report["schedule"]
    demand(schedule["found"] == schedule["turns"] > 1, f"{name}: the old schedule is not found", report)


def moved(at, old):
    text = (PROGRAMS / "bank_account.c").read_text()
    other = text.replace("assert(balance == 10L * threads * deposits && \"a deposit was lost\");",
                         "if (balance != 10L * threads * deposits) exit(3);")
    demand(other != text, "bank_account", "is not changed")
    report = report_of(at, old, build(at, other), (10,))
    demand(report["verdict"] == "moved", "another failure is not seen as one", report)
    text = expect_fixed(at, old, "--", at.folder / "program", accept=(10,))
    demand("Only moved: " in text and "exit status 3" in text, "it is not said that it moved", text)


def unknown(at, old):
    text = at.reweave("explore", "--expect-fixed", old, "--runs", 0, "-o", at.folder / "none", "--", build(
        at, (PROGRAMS / "bank_account_ok.c").read_text()), accept=(11,))
    demand("Unknown: " in text, "a verdict without a search", text)


def without_explanation(at, old):
    (old / "explanation.json").unlink()
    text = at.reweave("explore", "--expect-fixed", old, "--", at.folder / "program", accept=(2,))
    demand("explain --save" in text, "it is not said what to do", text)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
