"""How soon each search strategy finds the bug of each program in tests/programs."""
import concurrent.futures
import json
import os
import queue
import re
import shutil
import statistics
import subprocess

from benchmarks.common import REWEAVE, ROOT, SUBJECTS, Bench, run


SEEDLESS = ("native", "dfs", "pcb", "dpor", "hapset")  # strategies whose runs are the same for every seed


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
            seeds = range(1, 2 if strategy in SEEDLESS else self.runs + 1)
            wanted = [(name, strategy, seed, limit) for name in subjects for seed in seeds]
            for (name, *_), (first, rate) in zip(wanted, self.campaigns(wanted)):
                table.setdefault((strategy, name), []).append(first)
                rates.setdefault(strategy, []).append(rate)
            self.print_bugs(strategy, subjects, table, rates[strategy])
        print(f"\nruns to the first failure, median of {self.runs} campaigns; - not found in {limit} runs")
        print(f"  {'':<26}" + "".join(f"{strategy:>9}" for strategy in strategies))
        for name in subjects:
            medians = [statistics.median(table[strategy, name]) for strategy in strategies]
            print(f"  {name:<26}" + "".join(f"{'-' if m == float('inf') else f'{m:g}':>9}" for m in medians))

    def campaigns(self, wanted):
        """What campaign() gives for each, in order; one at a time on each processor."""
        free = queue.SimpleQueue()
        for processor in os.sched_getaffinity(0):
            free.put(processor)

        def one(arguments):
            processor = free.get()
            try:
                return self.campaign(processor, *arguments)
            finally:
                free.put(processor)

        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            return list(pool.map(one, wanted))

    def campaign(self, processor, name, strategy, seed, limit):
        found = self.folder / f"found-{processor}"
        shutil.rmtree(found, ignore_errors=True)
        _, text = run(["taskset", "-c", processor, REWEAVE, "explore", self.folder / name, "-o", found, "--first",
                       "--runs", limit, "--seed", seed, "--strategy", strategy, "--seconds", 60, "--verify", 0,
                       "--minimise", 0], accept=(0, 10), output=subprocess.PIPE)
        first = re.search(r"in run (\d+),", text)
        rate = re.search(r"\((\d+) runs/s\)", text)
        return (int(first[1]) + 1 if first else float("inf")), float(rate[1])

    @staticmethod
    def print_bugs(strategy, subjects, table, rates):
        medians = sorted(statistics.median(table[strategy, name]) for name in subjects)
        found = [m for m in medians if m != float("inf")]
        campaigns = [runs for name in subjects for runs in table[strategy, name]]
        successful = [runs for runs in campaigns if runs != float("inf")]
        # One mark for each twentieth of the programs that is found within so many runs.
        chart = "  ".join(f"<={limit}: {'#' * round(20 * sum(m <= limit for m in medians) / len(medians)):<20}"
                          for limit in (3, 10, 100))
        print(f"  {strategy:<8} found {len(found)} of {len(subjects)}, median {statistics.median(medians):g} runs, "
              f"worst {max(successful, default=0):g}, {len(successful):,} of {len(campaigns):,} campaigns, "
              f"{statistics.median(rates):,.0f} runs/s\n           {chart}", flush=True)
