"""Measures how soon each search strategy finds the bug of each program in tests/programs."""
import json
import statistics
import subprocess

from benchmarks.common import REWEAVE, ROOT, SUBJECTS, Bench, run
from benchmarks.searching import campaigns, on_each_processor

SECONDS = 60  # a campaign that takes longer counts as one that found nothing


class BugsBench(Bench):
    def show(self):
        subjects = [row["name"] for row in json.loads((ROOT / "tests" / "programs" / "subjects.json").read_text())
                    if row["kind"] == "buggy" and row["tsan"]]
        limit = int(self.scaled(10_000))
        text = subprocess.run([REWEAVE, "explore", "--strategy=help"], capture_output=True, text=True, check=True).stdout
        strategies = [line.split()[0] for line in text.splitlines() if not line.startswith("witness")]
        strategies = self.strategies.split(",") if self.strategies else strategies
        for name in subjects:
            run([REWEAVE, "record", "--seed", "1", "-o", self.folder / name, "--",
                 SUBJECTS / "tsan" / f"{name}.tsan"], accept=range(256))
        table = {}  # (strategy, subject): runs to the first failure by seed, the recording counted as one
        rates = {}
        for strategy in strategies:
            def search(processor, name):
                return campaigns(processor, self.folder / name, strategy, range(1, self.runs + 1), limit, SECONDS)
            for name, results in zip(subjects, on_each_processor(search, subjects)):
                table[strategy, name] = [first for first, _ in results]
                rates.setdefault(strategy, []).extend(rate for _, rate in results)
            self.print_bugs(strategy, subjects, table, rates[strategy])
        print(f"\nruns to the first failure, median of {self.runs} campaigns; - not found in {limit} runs")
        print(f"  {'':<26}" + "".join(f"{strategy:>9}" for strategy in strategies))
        for name in subjects:
            medians = [statistics.median(table[strategy, name]) for strategy in strategies]
            print(f"  {name:<26}" + "".join(f"{'-' if m == float('inf') else f'{m:g}':>9}" for m in medians))

    @staticmethod
    def print_bugs(strategy, subjects, table, rates):
        medians = sorted(statistics.median(table[strategy, name]) for name in subjects)
        found = [m for m in medians if m != float("inf")]
        firsts = [runs for name in subjects for runs in table[strategy, name]]
        successful = [runs for runs in firsts if runs != float("inf")]
        # One mark for each twentieth of the programs found within that many runs.
        chart = "  ".join(f"<={limit}: {'#' * round(20 * sum(m <= limit for m in medians) / len(medians)):<20}"
                          for limit in (3, 10, 100))
        print(f"  {strategy:<9} found {len(found)} of {len(subjects)}, median {statistics.median(medians):g} runs, "
              f"worst {max(successful, default=0):g}, {len(successful):,} of {len(firsts):,} campaigns, "
              f"{statistics.median(rates):,.0f} runs/s\n           {chart}", flush=True)
        missed = [name for name in subjects if statistics.median(table[strategy, name]) == float("inf")]
        if missed:
            print(f"           not found: {', '.join(missed)}", flush=True)
