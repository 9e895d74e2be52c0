"""Measures the cost of a run that begins where other threads exist, and how many more runs of a long program that gives."""
import re
import statistics
import subprocess

from benchmarks.common import BUILD, REWEAVE, Bench, Failed, run, spread

TOOL = BUILD / "tests/explorer/checkpoint_runs"
PROGRAM = BUILD / "tests/programs"


class CheckpointBench(Bench):
    def show(self):
        for part in (self.times, self.runs_of_a_long_program):
            try:
                part()
            except Failed as problem:
                print(f"  failed: {problem}")

    def record(self, name, kind, *arguments):
        recording = self.folder / name
        program = PROGRAM / kind / ("threaded_phase.tsan" if kind == "tsan" else "threaded_phase")
        run([REWEAVE, "record", "--seed", "1", "-o", recording, "--", program, *arguments], accept=range(256))
        return recording

    def times(self):
        """Measures a run that ends where it begins: it forks, creates the other threads again and exits."""
        print("\na run that ends at the checkpoint it begins at, threaded_phase")
        recordings = {threads: self.record(f"quit-{threads}", "plain", "1", threads - 1, "quit") for threads in (2, 8, 32)}
        rows = {threads: [] for threads in recordings}
        for _ in range(self.runs):
            for threads, recording in recordings.items():
                text = run([TOOL, recording, "second_phase", f"{self.scaled(300)}/0"], output=subprocess.PIPE)[1]
                rows[threads].append(float(re.search(r"median ([\d.]+) ms", text)[1]))
        for threads, values in rows.items():
            print(f"  {threads:>2} threads      {spread(values, 'ms')}")
        first, last = (statistics.median(rows[n]) for n in (2, 32))
        print(f"  each further thread costs {1e3 * (last - first) / 30:.0f} us")

    def runs_of_a_long_program(self):
        seconds, passes = self.scaled(20), self.scaled(300)
        print(f"\nexplore threaded_phase.tsan with {passes} passes before the bug, {seconds} s")
        recording = self.record("long", "tsan", passes)
        rates = {}
        for name, options in (("from main", []), ("from there", ["--fork-at", "second_phase"])):
            text = run([REWEAVE, "explore", recording, "-o", self.folder / f"found-{name}", "--seconds", seconds,
                        "--runs", 1_000_000, "--minimise", 0, "--verify", 1, *options], accept=(0, 10),
                       output=subprocess.PIPE)[1]
            rates[name] = int(re.search(r"(\d+) runs in", text)[1])
            print(f"  {name:<12}{rates[name]:>7} runs; {'found' if 'failure-1' in text else 'nothing found'}")
        print(f"  {rates['from there'] / max(rates['from main'], 1):.1f} times as many")
