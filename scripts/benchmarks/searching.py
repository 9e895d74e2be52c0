"""Shared by the benchmarks that search: recordings to begin with, campaigns, and work on each processor."""
import concurrent.futures
import json
import os
import queue
import re
import shutil
import subprocess

from benchmarks.common import REWEAVE, run

SEEDLESS = ("native", "dfs", "pcb", "dpor", "hapset")  # strategies whose runs are the same for every seed
MOST_TRIES = 20  # recordings until one passes


def passing_recording(command, folder):
    """Records the program in `folder`, under one seed after another, until a run passes. Returns the last recording."""
    for seed in range(1, MOST_TRIES):
        path = folder / f"run-{seed}"
        run([REWEAVE, "record", "--seed", seed, "-o", path, "--", *command], accept=range(256))
        if json.loads(run([REWEAVE, "traceinfo", path], output=subprocess.PIPE)[1])["outcome"] == "passed":
            break
    return path


def failing_recording(command, folder):
    """A recording that fails, found from one that passes."""
    passing = passing_recording(command, folder)
    run([REWEAVE, "explore", passing, "--first", "--verify", 1, "-o", folder / "found", "--expect-status", "0"],
        accept=(10,))
    return folder / "found" / "failure-1"


def first_failure(processor, recording, strategy, seed, limit, seconds):
    """One campaign on one processor: the runs to its first failure, the recording counted as one (infinite if there is
    none within `limit` runs and `seconds` seconds), and runs per second."""
    found = recording.with_name(f"{recording.name}-found-{processor}")
    shutil.rmtree(found, ignore_errors=True)
    _, text = run(["taskset", "-c", processor, REWEAVE, "explore", recording, "-o", found, "--first", "--runs", limit,
                   "--seed", seed, "--strategy", strategy, "--seconds", seconds, "--verify", 0, "--minimise", 0],
                  accept=(0, 10), output=subprocess.PIPE)
    first = re.search(r"in run (\d+),", text)
    rate = re.search(r"\((\d+) runs/s\)", text)
    return (int(first[1]) + 1 if first else float("inf")), float(rate[1])


def campaigns(processor, recording, strategy, seeds, limit, seconds):
    """The results of first_failure() for each seed. Once more than half of the campaigns have found nothing, the median
    is known and the rest are left out. Strategies without random choices make one campaign."""
    results = []
    seeds = seeds[:1] if strategy in SEEDLESS else seeds
    for seed in seeds:
        results.append(first_failure(processor, recording, strategy, seed, limit, seconds))
        if sum(first == float("inf") for first, _ in results) > len(seeds) / 2:
            break
    return results


def explored(recording, *options, processor=0):
    """The report of one search on one processor."""
    found = recording.with_name(f"{recording.name}-explored")
    shutil.rmtree(found, ignore_errors=True)
    _, text = run(["taskset", "-c", processor, REWEAVE, "explore", recording, "-o", found, "-j", 1, "--verify", 0,
                   "--minimise", 0, "--json", *options], accept=(0, 10), output=subprocess.PIPE)
    return json.loads(text[:text.rindex("}") + 1])


def seconds_of_run(recording, runs, *options):
    """Seconds of an explored run. After the first runs, a search watches in most runs only what threads share; if it did,
    the figure is of those runs. Otherwise it is the difference between this search and one of a quarter of the runs."""
    report = explored(recording, "--runs", runs, *options)
    quiet = re.search(r"share: ([\d.]+) ms each", "\n".join(report["summary"]))
    if quiet:
        return float(quiet[1]) / 1e3
    few = explored(recording, "--runs", max(1, runs // 4), *options)
    if report["runs"] == few["runs"]:
        return report["seconds"] / report["runs"]
    return max(0, report["seconds"] - few["seconds"]) / (report["runs"] - few["runs"])


def explained(recording, seconds):
    """The report of `reweave explain` with one worker."""
    _, text = run([REWEAVE, "explain", recording, "--json", "--jobs", 1, "--seconds", seconds], accept=(0, 11),
                  output=subprocess.PIPE)
    return json.loads(text[:text.rindex("}") + 1])


def on_each_processor(work, items):
    """Yields work(processor, item) for each item, in their order. One item at a time is worked at on each processor."""
    free = queue.SimpleQueue()
    for processor in os.sched_getaffinity(0):
        free.put(processor)

    def one(item):
        processor = free.get()
        try:
            return work(processor, item)
        finally:
            free.put(processor)

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        yield from pool.map(one, items)
