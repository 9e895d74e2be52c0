"""Examples and tables of "Sound and Efficient Concurrency Bug Prediction" (SeqCheck)."""
import collections
import json
import statistics
import subprocess

from benchmarks.common import REWEAVE, ROOT, run
from benchmarks.paper_table import BEHIND, LEVEL, PaperTable, Row, fewer_is_better
from benchmarks.searching import on_each_processor, passing_recording

SOURCE = "Cai, Yun, Wang, Qiao, Palsberg: Sound and Efficient Concurrency Bug Prediction, ESEC/FSE 2021"
# The traces of the paper's figures; the threads of the events follow from its text. As there, a thread ends with a branch.
FIGURE_1 = ("T2 acq(l)", "T2 r(y)", "T2 w(x)", "T2 rel(l)", "T1 acq(l)", "T1 r(x)", "T1 w(x)", "T1 rel(l)", "T1 w(y)",
            "T2 br(0)", "T1 br(0)")
FIGURE_2 = ("T2 acq(l2)", "T2 w(x)", "T2 rel(l2)", "T2 w(y)",
            "T1 acq(l2)", "T1 w(p)", "T1 w(x)", "T1 rel(l2)",
            "T3 acq(l1)", "T3 r(x)", "T3 br(0)", "T3 w(p)", "T3 w(y)", "T3 rel(l1)",
            "T2 acq(l1)", "T2 r(x)", "T2 br(0)", "T2 r(p)", "T2 acq(l2)", "T2 r(y)", "T2 rel(l2)", "T2 rel(l1)",
            "T1 br(0)", "T2 br(0)", "T3 br(0)")
EXCHANGED = (*FIGURE_2[:5], FIGURE_2[6], FIGURE_2[5], *FIGURE_2[7:])
# The question: the trace, two events by their numbers in the figure, and whether they race according to the paper.
RACES = {
    "Figure 1, events 2 and 9": (FIGURE_1, {2, 9}, True),
    "Figure 2, events 6 and 12": (FIGURE_2, {6, 12}, False),
    "Figure 2 with 6 and 7 exchanged": (EXCHANGED, {7, 12}, True),
}
# The paper's program: ours with its arguments, and the paper's seconds for races (table 3) or deadlocks (table 4).
PROGRAMS = {
    "pingpong": ("ping_pong", 0.07),
    "airlinetickets": ("airline_tickets", 0.11),
    "account": ("account", 0.11),
    "bubblesort": ("bubble_sort", 0.12),
    "boundedbuffer": ("bounded_buffer_if", 0.08),
    "mergesort": ("merge_sort", 0.11),
    "raytracer": ("ray_tracer", 0.09),
    "bufwriter": ("buf_writer", 0.18),
    "deadlock": ("lock_order", 0.07),
    "stringbuffer": ("string_buffer", 0.07),
    "diningphi": ("dining_philosophers", 0.10),
}
KINDS = ("race", "deadlock", "atomicity")


class Figures(PaperTable):
    """The paper's examples, as traces in STD text."""

    title = "SeqCheck: races in the traces of the figures"
    source = SOURCE + ", figures 1 and 2"
    headings = ("theirs", "ours", "seconds")
    judged = "answers"
    missing = {"Figure 2, order of events 6, 18, 12": "`predict` asks about patterns, not about any sequence of events;"
                                                      " tests/predictor/seqcheck_test.cc asks for this one"}

    def rows(self):
        for name, (events, pair, theirs) in RACES.items():
            path = self.scratch(name) / "figure.std"
            path.write_text("".join(f"{event.replace(' ', '|')}|{i}\n" for i, event in enumerate(events, 1)))
            seconds, report = predicted(path)
            ours = any(finding["kind"] == "race" and {event["site"]["offset"] for event in finding["events"]} == pair
                       for finding in report["findings"])
            yield Row(name, [*("race" if answer else "no race" for answer in (theirs, ours)), f"{seconds:.3f}"],
                      LEVEL if ours == theirs else BEHIND)


class Predictions(PaperTable):
    """Findings of each kind in the trace of one passing run, and the time from the trace to the findings."""

    title = "SeqCheck: races, deadlocks and atomicity violations that are predicted, and seconds"
    source = SOURCE + ", tables 3 and 4"
    headings = ("their s", "seconds", "events", "races", "deadlocks", "atomicity", "others")
    judged = "seconds against theirs"
    missing = {
        "numbers of races, deadlocks and atomicity violations": "the digits are missing from the text of the paper that we"
                                                                " have; of its seconds, the digits before the point are"
                                                                " missing and taken as 0",
        "the public traces of Java programs": "they cannot be had offline",
    }

    def rows(self):
        for name, (words, theirs) in PROGRAMS.items():
            seconds, events, counts = self.findings(words)
            yield Row(f"{name} ({words})", [f"{theirs:.2f}", f"{seconds:.3f}", *cells(events, counts)],
                      fewer_is_better(seconds, theirs))
        yield self.all_subjects()

    def findings(self, words):
        """Median seconds, events of the trace, and findings by kind."""
        trace = passing_recording(self.program(words), self.scratch(words)).with_suffix(".rwt")
        run([REWEAVE, "trace", trace.with_suffix(""), "-o", trace])
        information = json.loads(run([REWEAVE, "traceinfo", trace], output=subprocess.PIPE)[1])
        results = [predicted(trace) for _ in range(self.runs)]
        counts = collections.Counter(finding["kind"].split()[0] for finding in results[0][1]["findings"])
        return statistics.median(seconds for seconds, _ in results), information["events"], counts

    def all_subjects(self):
        """One row for all buggy C programs of tests/programs together."""
        rows = json.loads((ROOT / "tests" / "programs" / "subjects.json").read_text())
        words = [" ".join([row["name"], *row["argv"]]) for row in rows
                 if row["kind"] == "buggy" and row["tsan"] and row["language"] == "c"]
        words = [text for text in words if text not in [ours for ours, _ in PROGRAMS.values()]]
        words = words[:max(1, int(len(words) * min(1, float(self.scaled(1000)) / 1000)))]
        seconds, events, counts = 0, 0, collections.Counter()
        for one_seconds, one_events, one_counts in on_each_processor(lambda _, text: self.findings(text), words):
            seconds, events, counts = seconds + one_seconds, events + one_events, counts + one_counts
        return Row(f"{len(words)} more of tests/programs", ["", f"{seconds:.3f}", *cells(events, counts)])


def predicted(trace):
    """Seconds, and the report of `reweave predict`."""
    seconds, text = run([REWEAVE, "predict", trace, "--format=json"], output=subprocess.PIPE)
    return seconds, json.loads(text[:text.rindex("}") + 1])


def cells(events, counts):
    return [f"{events:,}", *(counts[kind] for kind in KINDS), sum(counts.values()) - sum(counts[kind] for kind in KINDS)]
