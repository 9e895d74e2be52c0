"""The tables of "Collaborative Technique for Concurrency Bug Detection" (ColFinder)."""
import math
import statistics
import subprocess
import time

from benchmarks.paper_table import AHEAD, BEHIND, LEVEL, PaperTable, Row, fewer_is_better
from benchmarks.searching import explained, explored, failing_recording, on_each_processor, passing_recording, seconds_of_run

SOURCE = "Wu, Lu, Wang, Zhou: Collaborative Technique for Concurrency Bug Detection, 2014"
NATIVE_RUNS = 100  # as in the paper
NATIVE_SECONDS = 10  # a native run that takes longer hangs, so it fails
ACTIVE_RUNS = 100
COST_RUNS = 12
EXPLAIN_SECONDS = 30
# The paper's program: ours, and the percentages of runs that fail natively, and with the active tester before and after
# slicing (table 3).
PROGRAMS = {
    "BankAccount": ("bank_account", 0, 71, 87),
    "CircularList": ("circular_list", 0, 78, 91),
    "LogProcSweep": ("log_proc_sweep", 0, 85, 92),
    "StringBuffer": ("string_buffer", 0, 86, 92),
    "MySQL-LogMiss": ("log_rotation", 0, 62, 84),
    "LU": ("lu", 0, 89, 88),
    "FFT": ("fft", 0, 96, 88),
    "Radix": ("radix", 7, 87, 86),
    "Ocean": ("ocean", 0, 92, 95),
    "Cholesky": ("cholesky", 2, 62, 96),
    "Barnes": ("barnes", 0, 92, 90),
    "FMM": ("fmm", 0, 78, 98),
    "pbzip2": ("shutdown_use_after_free", 0, 98, 95),
    "pfscan": ("scan_queue", 0, 65, 73),
}
# The paper's program: ours with arguments for a longer run, and the percentage that the active tester adds (table 5).
COSTS = {
    "LU": ("lu 2 120", 96),
    "FFT": ("fft 2 16384", 122),
    "Radix": ("radix 2 20000", 78),
    "Ocean": ("ocean 2 100 20", 14),
    "Cholesky": ("cholesky 2 50 5000", 54),
    "Barnes": ("barnes 2 400 3", 113),
    "FMM": ("fmm 2 50000 5", 52),
    "pfscan": ("scan_queue 2 20 20000", 87),
}


class Manifestation(PaperTable):
    """The share of runs that fail: natively, and of the first runs of `active`, each of which tests another suspicion. The
    paper's tester forces the order of the one pair that it tests. So the last figure is of random schedules in which the
    cause that `explain` names holds."""

    title = "ColFinder: percentage of runs in which the bug shows"
    source = SOURCE + ", table 3"
    headings = ("native", "active", "and sliced", "our native", "our active", "with cause")
    judged = "share of runs with the cause's order, against theirs after slicing"

    def rows(self):
        programs = {name: (self.program(words), self.program(words, sanitize=False), self.scratch(words))
                    for name, (words, *_) in PROGRAMS.items()}
        measured = on_each_processor(lambda processor, name: self.measure(processor, *programs[name]), PROGRAMS)
        shares = []
        for (name, (words, *theirs)), ours in zip(PROGRAMS.items(), measured):
            shares.append([*theirs, *ours])
            forced = ours[-1]
            yield Row(f"{name} ({words})", [*map(percent, shares[-1])],
                      AHEAD if forced > theirs[-1] else LEVEL if forced == theirs[-1] else BEHIND)
        yield Row("average", [percent(statistics.fmean(column)) for column in zip(*shares)])
        found = sum(active > 0 for *_, active, _ in shares)
        self.notes.append(f"found by active: {found} of {len(PROGRAMS)}; theirs: 14 of 14")

    def measure(self, processor, program, native, folder):
        failed = sum(fails(native) for _ in range(int(self.scaled(NATIVE_RUNS))))
        report = explored(passing_recording(program, folder), "--strategy", "active", "--runs", self.scaled(ACTIVE_RUNS),
                          processor=processor)
        return (100 * failed / int(self.scaled(NATIVE_RUNS)), 100 * report["failed"] / max(1, report["examined"]),
                self.with_cause(folder / "again", program))

    @staticmethod
    def with_cause(folder, program):
        """The percentage of random schedules with the cause's orders that fail; nan if no cause was shown."""
        folder.mkdir()
        report = explained(failing_recording(program, folder), EXPLAIN_SECONDS)
        rates = [report["together"]["forced"]] if report["together"] else [flip["forced"] for flip in report["flips"][:1]]
        return 100 * rates[0]["failed"] / rates[0]["tried"] if rates and rates[0]["tried"] else math.nan


class Overhead(PaperTable):
    """The time that a run of `active` takes beyond that of a native run."""

    title = "ColFinder: what the active tester adds to the time of a native run, in percent"
    source = SOURCE + ", table 5"
    headings = ("theirs", "ours", "native ms", "active ms")
    judged = "overhead against theirs"
    missing = {"pbzip2": "our program with its bug does not compress, so it has no work to measure"}

    def rows(self):
        for name, (words, theirs) in COSTS.items():
            recording = passing_recording(self.program(words), self.scratch(words))
            native = statistics.median(seconds_of(self.program(words, sanitize=False)) for _ in range(max(5, self.runs)))
            active = seconds_of_run(recording, int(self.scaled(COST_RUNS)), "--strategy", "active")
            ours = 100 * (active / native - 1)
            yield Row(f"{name} ({words})", [percent(theirs), percent(ours), f"{1e3 * native:.1f}", f"{1e3 * active:.1f}"],
                      fewer_is_better(ours, theirs))


def fails(program):
    try:
        return subprocess.run(program, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=NATIVE_SECONDS).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def seconds_of(program):
    """Wall time of a native run, whether the bug shows in it or not."""
    begin = time.perf_counter()
    fails(program)
    return time.perf_counter() - begin


def percent(value):
    return "-" if math.isnan(value) else f"{value:.0f} %"
