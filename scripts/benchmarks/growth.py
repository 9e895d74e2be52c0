"""Measures how recording grows: time and size against the number of one thing, with fitted exponents."""
import math
import os
import shutil
import statistics
import subprocess
import sys
import time

from benchmarks.common import BENCH, LIMIT, REWEAVE, Bench, Failed, tree_bytes

# The growing quantity, its unit and its values. Some costs show only in processor time, not in wall time.
CURVES = (
    ("calls", "calls", (10_000, 100_000, 1_000_000)),
    ("output", "bytes", (1 << 20, 1 << 24, 1 << 28)),
    ("mappings", "mappings", (1_000, 4_000, 16_000, 64_000)),
    ("threads", "threads in total", (250, 1_000, 4_000, 16_000)),
    ("threads-alive", "threads at once", (250, 1_000, 4_000, 16_000)),
    ("processes", "processes in total", (250, 1_000, 4_000, 10_000)),
    ("processes-alive", "processes at once", (100, 400, 1_600, 5_000)),
    ("locks", "threads; 40,000 times a lock held over a yield", (2, 8, 64, 256)),
    ("signals", "signals", (1_000, 10_000, 100_000)),
    ("sleeping", "seconds asleep", (1, 4, 16)),
)


def measured(command):
    """Wall seconds, and processor seconds of the command and its descendants."""
    start = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, errors="replace")
    used = os.times()
    try:
        _, errors = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired as late:
        process.kill()
        process.communicate()
        raise Failed(f"stopped after {LIMIT} s") from late
    now = os.times()
    if process.returncode != 0:
        last = (errors.strip().splitlines() or ["no message"])[-1]
        raise Failed(f"status {process.returncode}: {last[:100]}")
    return (time.perf_counter() - start,
            now.children_user + now.children_system - used.children_user - used.children_system)


def exponent(points):
    """Returns the exponent of the growth: the slope of the last three points on logarithmic axes. The first points are left
    out because program start dominates them. Returns None if there are fewer than two points."""
    last = [(math.log(x), math.log(y)) for x, y in points if y > 0][-3:]
    if len(last) < 2:
        return None
    mean_x, mean_y = (statistics.mean(column) for column in zip(*last))
    return (sum((x - mean_x) * (y - mean_y) for x, y in last) / sum((x - mean_x) ** 2 for x, _ in last))


class GrowthBench(Bench):
    def point(self, kind, number):
        """Medians: native wall, native processor, recorded wall, recorded processor time, bytes."""
        recording = self.folder / "recording"
        rows = []
        for _ in range(self.runs):
            native = measured([BENCH / "bench_growth", kind, number])
            shutil.rmtree(recording, ignore_errors=True)
            recorded = measured([REWEAVE, "record", "-o", recording, "--", BENCH / "bench_growth", kind, number])
            rows.append((*native, *recorded, tree_bytes(recording)))
        return [statistics.median(column) for column in zip(*rows)]

    def curve(self, kind, unit, numbers):
        print(f"\n{kind}: {unit}")
        print(f"  {'':>13}{'native':>10}{'recorded':>10}{'ratio':>8}{'processor':>11}{'ratio':>8}{'bytes':>14}")
        points = []
        for number in numbers:
            number = max(1, int(number * self.scale))
            try:
                wall, used, recorded, processor, size = self.point(kind, number)
            except Failed as problem:
                print(f"  {number:>13,}  {problem}")
                break
            points.append((number, recorded, processor, size, wall))
            print(f"  {number:>13,}{wall:>9.3f}s{recorded:>9.3f}s{recorded / wall:>8.1f}{processor:>10.2f}s"
                  f"{processor / max(used, 0.001):>8.1f}{size:>14,.0f}")
            sys.stdout.flush()
        told = []
        for name, column in (("recorded", 1), ("processor", 2), ("bytes", 3), ("native", 4)):
            slope = exponent([(row[0], row[column]) for row in points])
            if slope is not None:
                told.append(f"{name} {slope:.2f}")
        print(f"  exponents of the growth (1: linear): {', '.join(told)}")
        sys.stdout.flush()

    def show(self):
        wanted = [name for name in self.curves.split(",") if name]
        for kind, unit, numbers in CURVES:
            if not wanted or kind in wanted:
                self.curve(kind, unit, numbers)
