"""Shared by all benchmarks: running commands in turns, medians, and tables of them."""
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
REWEAVE = BUILD / "reweave"
BENCH = BUILD / "tests" / "bench"
SUBJECTS = BUILD / "tests" / "programs"
LIMIT = 600  # seconds for one run


class Failed(Exception):
    """A measured command failed. The table shows this and continues."""


def run(command, accept=(0,), output=subprocess.DEVNULL):
    """Seconds of wall time, and its output if `output` is a pipe."""
    start = time.perf_counter()
    try:
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
                              stderr=subprocess.PIPE, timeout=LIMIT, text=True, errors="replace")
    except subprocess.TimeoutExpired as late:
        raise Failed(f"stopped after {LIMIT} s") from late
    seconds = time.perf_counter() - start
    if done.returncode not in accept:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise Failed(f"status {done.returncode}: {last[:100]}")
    return seconds, (done.stdout or "") + done.stderr


def write_compressible(path, size):
    """A file of at least `size` bytes that compresses as text does, by about three."""
    line = b"".join(b"%d the quick brown fox %d\n" % (i * 7919, i) for i in range(40000))
    with open(path, "wb") as out:
        while out.tell() < size:
            out.write(os.urandom(len(line) // 4) + line)


def tree_bytes(path):
    return sum(p.stat().st_size for p in path.rglob("*") if p.is_file())


def spread(values, unit="s"):
    """"median (min..max)"."""
    low, middle, high = min(values), statistics.median(values), max(values)
    digits = 0 if middle >= 1000 else 3
    return f"{middle:,.{digits}f} {unit} ({low:,.{digits}f}..{high:,.{digits}f})"


def measure(rows, steps, runs):
    """rows: {name: [seconds]} to fill. steps: (name, function returning seconds), run in turns. A failing step is
    dropped, and so are those after it, which depend on it; returns the reason."""
    reason, left = None, list(steps)
    for _ in range(runs):
        for i, (name, step) in enumerate(left):
            try:
                rows.setdefault(name, []).append(step())
            except Failed as problem:
                reason = f"{name} failed: {problem}"
                for later, _step in left[i:]:
                    rows.pop(later, None)
                left = left[:i]
                break
    return reason


def show_times(title, rows, reason, notes="", unit="s"):
    print(f"\n{title}")
    base = statistics.median(next(iter(rows.values()))) if rows else 0
    for name, seconds in rows.items():
        print(f"  {name:<22}{spread(seconds, unit):<34}{statistics.median(seconds) / base:8.2f}x")
    if reason:
        print(f"  {reason}")
    if notes:
        print(f"  {notes}")
    sys.stdout.flush()


class Bench:
    """The extent of a measurement: `folder` is for files of the benchmark, `runs` the number of repetitions, `scale` the
    part of the whole work, `chart` where a chart goes, `strategies` the search strategies to compare ("": all),
    `curves` the quantities whose growth is measured ("": all)."""

    def __init__(self, folder, arguments):
        self.folder, self.runs, self.scale = folder, max(1, arguments.runs), arguments.scale
        self.chart, self.strategies = arguments.chart, arguments.strategies
        self.curves = arguments.curves

    def scaled(self, number):
        return str(max(1, int(number * self.scale)))
