"""`reweave predict --analysis=...` on generated traces: time, events a second, memory, and how many of the planted bugs
were found."""
import json
import os
import re
import statistics
import subprocess
import sys
import time

from benchmarks.common import BUILD, REWEAVE, Bench, Failed, run, spread


ANALYSES = ("hb", "shb", "lockset", "wcp", "syncp", "seqcheck")


def judge(plants, findings, name):
    """The planted bugs that were found; for analyses that decide feasibility, also wrong reports."""
    found = {(f["kind"].split()[0], tuple(sorted(e["site"]["offset"] for e in f["events"]))) for f in findings}
    counts = {"0": [0, 0], "1": [0, 0]}
    for kind, feasible, sites, _ in plants:
        if name not in ("syncp", "seqcheck") and kind != "race":
            continue
        counts[feasible][0] += (kind, tuple(sorted(map(int, sites.split(","))))) in found
        counts[feasible][1] += 1
    return (f"{len(findings)} findings; feasible plants {counts['1'][0]} of {counts['1'][1]}, "
            f"infeasible {counts['0'][0]} of {counts['0'][1]}")


def draw_growth(growth, path):
    """Time against events, both logarithmic, with gnuplot."""
    blocks = "".join(f"${name} << EOD\n" + "".join(f"{n} {s}\n" for n, s in points) + "EOD\n"
                     for name, points in growth.items())
    lines = ", ".join(f"${name} using 1:2 with linespoints linewidth 2 title '{name}'" for name in growth)
    script = (f"set terminal svg size 720,440 font 'sans,12' background 'white'\nset output '{path}'\n"
              "set logscale xy\nset format x '10^{%L}'\nset xlabel 'events'\nset ylabel 'seconds'\n"
              f"set key left top\nset grid\n{blocks}plot {lines}\n")
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
    path.write_text("".join(line.rstrip() + "\n" for line in path.read_text().splitlines()))
    print(f"\ngrowth: {path}")


class PredictBench(Bench):
    def show(self):
        subprocess.run(["ninja", "-C", BUILD, "tests/predictor/generate_trace"], stdout=subprocess.DEVNULL, check=True)
        sizes = [max(10_000, int(n * self.scale)) for n in (1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000)]
        growth = {}
        for events in sizes:
            self.predict_size(events, growth)
        for threads in (4, 16, 32):
            self.predict_size(sizes[2], {}, threads=threads, names=["hb", "seqcheck"])
        self.predict_size(sizes[2], {}, branches=0, names=["seqcheck"])
        self.predict_size(sizes[2], {}, suffix="std", names=["hb", "seqcheck"])
        if self.chart:
            draw_growth(growth, self.chart)

    def predict_size(self, events, growth, threads=8, branches=1, suffix="rwt", names=None):
        """A table row per analysis on one trace, with the planted bugs that it found."""
        path = self.folder / f"generated.{suffix}"
        command = [BUILD / "tests" / "predictor" / "generate_trace", events, threads, 500, branches, 1, path]
        _, text = run(command, output=subprocess.PIPE)
        plants = [line.split(" ", 3) for line in text.splitlines()]
        print(f"\npredict: {events:,} events, {threads} threads, {'' if branches else 'no '}branches, "
              f"{suffix}, {path.stat().st_size:,} bytes, {len(plants)} plants")
        for name in names or ANALYSES:
            try:
                runs = [self.predict_once(path, name) for _ in range(self.runs)]
            except Failed as problem:
                print(f"  {name:<10}failed: {problem}")
                continue
            wall, processor, megabytes = (statistics.median(r[i] for r in runs) for i in range(3))
            growth.setdefault(name, []).append((events, wall))
            verdict = judge(plants, runs[0][3], name)
            print(f"  {name:<10}{spread([r[0] for r in runs]):<34}{processor:9.2f} CPU s"
                  f"{events / wall / 1e6:8.2f} M events/s{megabytes:8.0f} MB  {verdict}")
            sys.stdout.flush()
        path.unlink()

    def predict_once(self, path, name):
        """Wall seconds, processor seconds, peak megabytes, and the findings."""
        output = self.folder / "found.json"
        with open(output, "w") as out:
            start = time.perf_counter()
            child = subprocess.Popen([str(REWEAVE), "predict", str(path), "--format=json", f"--analysis={name}"],
                                     stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            seconds = time.perf_counter() - start
        if status != 0:
            raise Failed(f"status {os.waitstatus_to_exitcode(status)}")
        return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, json.loads(output.read_text())["findings"]
