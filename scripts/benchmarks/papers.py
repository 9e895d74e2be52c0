"""The tables of five papers on concurrency bugs, remade: their figures beside ours."""
from benchmarks.common import Bench
from benchmarks.paper_colfinder import Manifestation, Overhead
from benchmarks.paper_falcon import Ranks
from benchmarks.paper_hapset import Runs
from benchmarks.paper_rankchecker import Costs, Schedules
from benchmarks.paper_seqcheck import Figures, Predictions
from benchmarks.paper_table import AHEAD, BEHIND, LEVEL

TABLES = (Schedules, Costs, Runs, Manifestation, Overhead, Ranks, Figures, Predictions)


class PapersBench(Bench):
    def show(self):
        print("\nTheir figures are printed ones, of other machines, other languages and larger programs. Ours are measured "
              "here, on small\nC programs of ours with the same kind of bug (tests/programs, tests/bench/papers).")
        totals, missing = [], []
        for kind in TABLES:
            table = kind(self)
            totals.append(total_of(table, table.show()))
            missing += [f"{paper_of(table)}, {name}: {reason}" for name, reason in table.missing.items()]
        print("\n".join(["\ntotals", *totals, "\nnot rebuilt", *(f"  {line}" for line in missing)]), flush=True)


def paper_of(table):
    return table.title.split(":")[0]


def total_of(table, rows):
    counts = {verdict: [row.name.split(" (")[0] for row in rows if row.verdict == verdict]
              for verdict in (AHEAD, LEVEL, BEHIND)}
    behind = f"behind in {len(counts[BEHIND])}" + (f": {', '.join(counts[BEHIND])}" if counts[BEHIND] else "")
    return (f"  {paper_of(table)}, {table.judged}: ours ahead in {len(counts[AHEAD])} of {sum(map(len, counts.values()))}, "
            f"level in {len(counts[LEVEL])}, {behind}{'' if table.complete else '; the table is incomplete'}")
