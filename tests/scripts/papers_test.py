#!/usr/bin/env python3
"""scripts/bench papers: its tables name programs and source lines that exist, and each program of tests/bench/papers is
in a table."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from benchmarks import paper_colfinder, paper_falcon, paper_hapset, paper_rankchecker, paper_seqcheck  # noqa: E402
from benchmarks.paper_table import AHEAD, BEHIND, FOLDERS, Row, number, source_of  # noqa: E402
from benchmarks.papers import total_of  # noqa: E402

ALL = [paper_colfinder.PROGRAMS, paper_colfinder.COSTS, paper_falcon.PROGRAMS, paper_hapset.PROGRAMS,
       paper_rankchecker.PROGRAMS, paper_rankchecker.COSTS, paper_seqcheck.PROGRAMS]
NAMES = {words.split()[0] for table in ALL for words, *_ in table.values()}


class Papers(unittest.TestCase):
    def test_all_programs_exist(self):
        for name in NAMES:
            self.assertTrue(source_of(name).is_file())

    def test_all_sources_are_used(self):
        self.assertEqual({path.stem for path in FOLDERS[0].glob("*.c")} - NAMES, set())

    def test_programs_of_the_bench_hide_no_subject(self):
        self.assertEqual({path.name for path in FOLDERS[0].glob("*.c")} & {path.name for path in FOLDERS[1].glob("*.c")}, set())

    def test_bugs_are_marked(self):
        for path in FOLDERS[0].glob("*.c"):
            text = path.read_text()
            self.assertTrue("/* bug: " in text or "It has no bug" in text, path)

    def test_lines_of_the_true_patterns_exist(self):
        for words, _, lines in paper_falcon.PROGRAMS.values():
            for line in lines:
                self.assertIn(line, source_of(words.split()[0]).read_text())

    def test_patterns_are_true_if_all_accesses_are_at_the_lines(self):
        accesses = [{"source": "int at = used;"}, {"source": "used = at + 1;"}]
        lines = ("int at = used", "used = at + 1")
        self.assertTrue(paper_falcon.is_true({"accesses": accesses}, lines))
        self.assertFalse(paper_falcon.is_true({"accesses": [*accesses, {"source": "cells[at] = name;"}]}, lines))
        self.assertFalse(paper_falcon.is_true({"accesses": [*accesses, {}]}, lines))

    def test_ranks_count_patterns_of_the_same_kind(self):
        def pattern(source, count, suspiciousness, worst):
            return {"accesses": [{"source": source}] * count, "suspiciousness": suspiciousness, "worst_rank": worst}
        patterns = [pattern("other", 2, 1, 1), pattern("other", 3, 0.9, 2), pattern("bug", 3, 0.8, 4),
                    pattern("other", 3, 0.8, 4)]
        self.assertEqual(paper_falcon.ranks(patterns, ("bug",), 3), (patterns[2], 2, 3))
        patterns[2]["worst_rank"] = patterns[3]["worst_rank"] = 6  # two more come after the last that is reported
        self.assertEqual(paper_falcon.ranks(patterns, ("bug",), 3), (patterns[2], 2, 5))
        self.assertEqual(paper_falcon.ranks(patterns, ("none",), 3), (None, float("inf"), float("inf")))

    def test_totals_name_the_programs_that_are_behind(self):
        table = paper_falcon.Ranks.__new__(paper_falcon.Ranks)
        table.complete = True
        rows = [Row("Lottery (lottery)", [], AHEAD), Row("Shop (shop)", [], BEHIND), Row("Vector (vector)", [])]
        self.assertEqual(total_of(table, rows), "  Falcon, worst rank against theirs: ours ahead in 1 of 2, level in 0, "
                                                "behind in 1: Shop")

    def test_numbers(self):
        self.assertEqual([number(value) for value in (2, 2.5, 1000, float("inf"))], ["2", "2.5", "1,000", "-"])


if __name__ == "__main__":
    unittest.main()
