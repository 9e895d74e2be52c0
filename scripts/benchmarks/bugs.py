"""Measures how soon each search strategy finds the bug of each program in tests/programs."""
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
            seeds = range(1, 2 if strategy in SEEDLESS else self.runs + 1)
            for name, campaigns in zip(subjects, self.all_campaigns(subjects, strategy, seeds, limit)):
                table[strategy, name] = [first for first, _ in campaigns]
                rates.setdefault(strategy, []).extend(rate for _, rate in campaigns)
            self.print_bugs(strategy, subjects, table, rates[strategy])
        print(f"\nruns to the first failure, median of {self.runs} campaigns; - not found in {limit} runs")
        print(f"  {'':<26}" + "".join(f"{strategy:>9}" for strategy in strategies))
        for name in subjects:
            medians = [statistics.median(table[strategy, name]) for strategy in strategies]
            print(f"  {name:<26}" + "".join(f"{'-' if m == float('inf') else f'{m:g}':>9}" for m in medians))

    def all_campaigns(self, subjects, strategy, seeds, limit):
        """The results of campaign() for each subject and seed; one subject at a time on each processor. Once more than
        half of a subject's campaigns have found nothing, its median is known and the rest are left out."""
        free = queue.SimpleQueue()
        for processor in os.sched_getaffinity(0):
            free.put(processor)

        def one(name):
            processor = free.get()
            try:
                campaigns = []
                for seed in seeds:
                    campaigns.append(self.campaign(processor, name, strategy, seed, limit))
                    if sum(first == float("inf") for first, _ in campaigns) > len(seeds) / 2:
                        break
                return campaigns
            finally:
                free.put(processor)

        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            return list(pool.map(one, subjects))

    def campaign(self, processor, name, strategy, seed, limit):
        found = self.folder / f"found-{processor}"
        shutil.rmtree(found, ignore_errors=True)
        _, text = run(["taskset", "-c", processor, REWEAVE, "explore", self.folder / name, "-o", found, "--first",
                       "--runs", limit, "--seed", seed, "--strategy", strategy, "--seconds", SECONDS, "--verify", 0,
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
        # One mark for each twentieth of the programs found within that many runs.
        chart = "  ".join(f"<={limit}: {'#' * round(20 * sum(m <= limit for m in medians) / len(medians)):<20}"
                          for limit in (3, 10, 100))
        print(f"  {strategy:<9} found {len(found)} of {len(subjects)}, median {statistics.median(medians):g} runs, "
              f"worst {max(successful, default=0):g}, {len(successful):,} of {len(campaigns):,} campaigns, "
              f"{statistics.median(rates):,.0f} runs/s\n           {chart}", flush=True)
        missed = [name for name in subjects if statistics.median(table[strategy, name]) == float("inf")]
        if missed:
            print(f"           not found: {', '.join(missed)}", flush=True)
