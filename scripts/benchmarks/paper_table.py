"""Shared by the tables of papers: a row, how it is judged and printed, and how the programs are built."""
import math

from benchmarks.common import ROOT, Failed, run

FOLDERS = (ROOT / "tests" / "bench" / "papers", ROOT / "tests" / "programs")
AHEAD, LEVEL, BEHIND = "ahead", "level", "behind"


class Row:
    """A line of a table: `cells` are texts, `verdict` says how ours compares with theirs; None if it cannot be compared."""

    def __init__(self, name, cells, verdict=None):
        self.name, self.cells, self.verdict = name, cells, verdict


class PaperTable:
    """One table of a paper, remade. A subclass has `title`, `source` (the paper), `headings` of its cells, `judged` (the
    comparison that decides who is ahead), `missing` (programs that were not rebuilt, and why), and rows(). rows() may add
    sentences to `notes`; they come after the rows."""

    missing = {}

    def __init__(self, bench):
        self.folder, self.runs, self.scaled = bench.folder, bench.runs, bench.scaled
        self.notes = []
        self.complete = True

    def show(self):
        """Prints the table while it is measured. Returns its rows; `complete` is false if a command failed before the
        last."""
        print(f"\n{self.title}\n  {self.source}\n  {'':<38}" + "".join(f"{text:>12}" for text in self.headings), flush=True)
        rows = []
        try:
            for row in self.rows():
                rows.append(row)
                print(f"  {row.name:<38}" + "".join(f"{cell:>12}" for cell in row.cells) + f"  {row.verdict or ''}",
                      flush=True)
        except Failed as problem:
            self.complete = False
            print(f"  the rest of the table is missing: {problem}")
        for note in self.notes:
            print(f"  {note}")
        return rows

    def program(self, words, sanitize=True):
        """The command for a program and its arguments, such as "piper 4"; built on the first call."""
        name, *arguments = words.split()
        built = self.folder / (name + (".tsan" if sanitize else ""))
        if not built.exists():
            run(["cc", "-std=gnu11", "-g", "-O1", "-w", "-pthread", *(["-fsanitize=thread"] if sanitize else []),
                 source_of(name), "-o", built, "-lm"])
        return [built, *arguments]

    def scratch(self, name):
        """An empty folder of this table."""
        path = self.folder / f"{type(self).__name__}-{name.replace(' ', '-')}"
        path.mkdir()
        return path


def source_of(name):
    """The source of a program of tests/bench/papers or tests/programs."""
    return next(folder / f"{name}.c" for folder in FOLDERS if (folder / f"{name}.c").exists())


def fewer_is_better(ours, theirs):
    return LEVEL if ours == theirs else AHEAD if ours < theirs else BEHIND


def number(value):
    return "-" if math.isinf(value) else f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"
