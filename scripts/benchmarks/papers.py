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
    """Theirs are printed figures, of other machines, languages and larger programs. Ours are measured here, on small C
    programs with the same kind of bug (tests/programs, tests/bench/papers)."""

    def show(self):
        totals, missing = [], []
        for kind in TABLES:
            table = kind(self)
            rows = table.show()
            counts = {verdict: [row.name for row in rows if row.verdict == verdict] for verdict in (AHEAD, LEVEL, BEHIND)}
            judged = sum(map(len, counts.values()))
            behind = f", behind in {', '.join(name.split(' (')[0] for name in counts[BEHIND])}" if counts[BEHIND] else ""
            totals.append(f"{table.title.split(':')[0]}, {table.judged}: ours ahead in {len(counts[AHEAD])} of {judged}, "
                          f"level in {len(counts[LEVEL])}{behind}")
            missing += [f"{table.title.split(':')[0]}, {name}: {reason}" for name, reason in table.missing.items()]
        print("\ntotals\n  " + "\n  ".join(totals) + "\n\nnot rebuilt\n  " + "\n  ".join(missing), flush=True)
