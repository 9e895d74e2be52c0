"""The tables of "Variable and Thread Bounding for Systematic Testing of Multithreaded Programs" (RankChecker)."""
import json
import statistics
import subprocess

from benchmarks.common import REWEAVE, run
from benchmarks.paper_table import PaperTable, Row, fewer_is_better, number
from benchmarks.searching import campaigns, on_each_processor, passing_recording, seconds_of_run

SOURCE = "Bindal, Bansal, Lal: Variable and Thread Bounding for Systematic Testing of Multithreaded Programs, 2012"
STRATEGIES = ("auto", "pctvb", "ranked")
SECONDS = 10  # of a campaign
RUNS = 12  # whose cost is measured
# The paper's program: ours with its arguments, which give it as many threads as the paper's if it takes a number; the
# threads of the paper's program, and the schedules explored until its bug (table 1; for RegionOwnership table 3).
PROGRAMS = {
    "MergeSort": ("merge_sort", 100, 651),
    "ProducerConsumer": ("producer_consumer 6", 7, 1),
    "LinkedList": ("linked_list 2", 3, 23),
    "BubbleSort": ("bubble_sort 9", 9, 1),
    "BubbleSort2": ("bubble_sort2 100", 101, 2),
    "Piper": ("piper 4", 9, 64),
    "AllocationVector": ("allocation_vector 2", 3, 113),
    "BufWriter": ("buf_writer 4", 5, 12),
    "PingPong": ("ping_pong", 18, 234),
    "Manager": ("manager 5", 6, 33),
    "Account": ("account", 3, 19),
    "AirlineTickets": ("airline_tickets 10 9", 11, 2),
    "HashSet": ("hash_set", 200, 813),
    "TreeSet": ("tree_set", 200, 813),
    "RegionOwnership": ("region_ownership", 5, 47_248),
}
# The paper's program: ours, then seconds of a native run, of one with a variable tracked, and with all (table 2).
COSTS = {
    "Cache4j": ("item_cache 8000", 0.34, 0.47, 26.38),
    "Moldyn": ("molecules 100 40", 0.39, 3.15, 1239.76),
    "MonteCarlo": ("monte_carlo 60 5000", 0.48, 1.94, 323.12),
    "TSP": ("salesman 8", 4.2, 4.23, 1180.28),
    "BlockingQueue": ("blocking_queue 8000", 0.17, 0.18, 1.386),
    "Sor": ("relaxation 100 20", 0.07, 0.25, 0.392),
}


class Schedules(PaperTable):
    """Schedules until the first failure, the median of all seeds. The recording counts as one, so two is the best."""

    title = "RankChecker: schedules until the bug"
    source = SOURCE + ", table 1"
    headings = ("threads", "ours", "schedules", *STRATEGIES)
    judged = "schedules of auto against theirs"
    missing = {"MergeSortBug": "the paper says only that it sorts with merge sort, not what its bug is"}

    def rows(self):
        def search(processor, name):
            recording = recordings[name]
            return [[first for first, _ in campaigns(processor, recording, strategy, range(1, self.runs + 1),
                                                     self.scaled(10_000), SECONDS)] for strategy in STRATEGIES]
        recordings = {name: passing_recording(self.program(words), self.scratch(words))
                      for name, (words, _, _) in PROGRAMS.items()}
        for name, firsts in zip(PROGRAMS, on_each_processor(search, PROGRAMS)):
            words, threads, theirs = PROGRAMS[name]
            medians = [statistics.median(values) for values in firsts]
            yield Row(f"{name} ({words})", [number(threads), number(threads_of(recordings[name])), number(theirs),
                                            *map(number, medians)], fewer_is_better(medians[0], theirs))


def threads_of(recording):
    trace = recording.with_suffix(".rwt")
    run([REWEAVE, "trace", recording, "-o", trace])
    return len(json.loads(run([REWEAVE, "traceinfo", trace], output=subprocess.PIPE)[1])["threads"])


class Costs(PaperTable):
    """Seconds of a run in which one variable is tracked, or all of them, as a multiple of the native run's."""

    title = "RankChecker: cost of a run with v=1, and with every access instrumented, as a multiple of the native run"
    source = SOURCE + ", table 2"
    headings = ("their v=1", "their all", "all / v=1", "our v=1", "our all", "all / v=1")
    judged = "cost of a run with v=1 against theirs"
    missing = {"HashSet, TreeSet": "as we wrote them they are too small for the cost of a run to be measured"}

    def rows(self):
        for name, (words, native, one, every) in COSTS.items():
            recording = passing_recording(self.program(words), self.scratch(words))
            ours_native = statistics.median(run(self.program(words, sanitize=False))[0] for _ in range(max(5, self.runs)))
            runs = int(self.scaled(RUNS))
            ours_one = seconds_of_run(recording, runs, "--strategy", "pctvb") / ours_native
            ours_every = seconds_of_run(recording, runs, "--strategy", "pct", "--every-access") / ours_native
            yield Row(f"{name} ({words})",
                      [times(one / native), times(every / native), times(every / one), times(ours_one), times(ours_every),
                       times(ours_every / ours_one)], fewer_is_better(ours_one, one / native))


def times(ratio):
    return f"{ratio:,.1f}x" if ratio < 100 else f"{ratio:,.0f}x"
