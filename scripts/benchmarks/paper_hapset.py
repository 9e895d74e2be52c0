"""The tables of "Coverage Guided Systematic Concurrency Testing" (HaPSet)."""
import statistics

from benchmarks.paper_table import AHEAD, BEHIND, LEVEL, PaperTable, Row, number
from benchmarks.searching import campaigns, on_each_processor, passing_recording

STRATEGIES = ("hapset", "dpor", "pcb", "auto")
SECONDS = 8  # of a campaign
ALL, HAPSET_AND_PCB, HAPSET = (True, True, True), (True, False, True), (True, False, False)
# The paper's program: ours with its arguments, and whether HaPSet, DPOR and PCB2 found the bug in time. The numbers of
# runs are illegible in the text that we have.
PROGRAMS = {
    "thrift w2 5t": ("thread_pool 2 5", ALL),
    "thrift w3 5t": ("thread_pool 3 5", HAPSET_AND_PCB),
    "thrift w4 5t": ("thread_pool 4 5", HAPSET),
    "thrift w5 5t": ("thread_pool 5 5", HAPSET),
    "aget": ("download_accelerator 3", ALL),
    "pbzip2": ("shutdown_use_after_free", ALL),
    "pbz2-f": ("output_buffer", HAPSET),
    "pfscan": ("file_scanner", HAPSET),
    "MysqlLog": ("log_rotation", ALL),
    "NodeState": ("node_state", ALL),
    "LoadScript": ("load_script", ALL),
    "SeekToItem": ("seek_to_item", ALL),
    "UpdateTimer": ("update_timer", ALL),
    "FileTransport": ("file_transport", ALL),
    "CreateThread": ("create_thread", ALL),
    "ReadWriteProc": ("read_write_proc", ALL),
    "OpenInputStr": ("open_input_stream", ALL),
    "HttpConnect": ("http_connection", ALL),
    "TimerThread": ("timer_thread", ALL),
}


class Runs(PaperTable):
    """Runs until the first failure under the paper's three strategies, and under our default."""

    title = "HaPSet: runs until the failure"
    source = "Wang, Said, Gupta: Coverage Guided Systematic Concurrency Testing, ICSE 2011, tables 1, 2 and 5"
    headings = ("HaPSet", "DPOR", "PCB2", *STRATEGIES)
    judged = "how many of hapset, dpor and pcb find the bug, against theirs"
    missing = {
        "numbers of runs": "the digits are missing from the text of the paper that we have, which only tells what was found in"
                           " time",
        "thread and bound scaling of aget": "the figures to compare with (tables 3 and 4) are illegible",
    }

    def rows(self):
        def search(processor, name):
            return [[first for first, _ in campaigns(processor, recordings[name], strategy, range(1, self.runs + 1),
                                                     self.scaled(10_000), SECONDS)] for strategy in STRATEGIES]
        recordings = {name: passing_recording(self.program(words), self.scratch(words))
                      for name, (words, _) in PROGRAMS.items()}
        found = [0] * len(STRATEGIES)
        for name, firsts in zip(PROGRAMS, on_each_processor(search, PROGRAMS)):
            words, theirs = PROGRAMS[name]
            medians = [statistics.median(values) for values in firsts]
            found = [count + (median != float("inf")) for count, median in zip(found, medians)]
            ours = sum(median != float("inf") for median in medians[:3])
            yield Row(f"{name} ({words})", [*("found" if yes else "time-out" for yes in theirs), *map(number, medians)],
                      AHEAD if ours > sum(theirs) else LEVEL if ours == sum(theirs) else BEHIND)
        self.notes.append("found: " + ", ".join(f"{strategy} {count}" for strategy, count in zip(STRATEGIES, found)) +
                          f" of {len(PROGRAMS)}; theirs: " +
                          ", ".join(f"{title} {sum(row[1][i] for row in PROGRAMS.values())}"
                                    for i, title in enumerate(self.headings[:3])))
