#!/usr/bin/env python3
"""scripts/check_core.py: the tree has exactly the counts that it allows, and each kind is counted."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import check_core  # noqa: E402

NUMBERS, MODES, MODULES, HEADERS = check_core.MOST


def include(path):
    return f'#include "recorder/core/{path}"\n'


class CheckCore(unittest.TestCase):
    def test_the_tree_has_these_numbers(self):
        counts = check_core.count(check_core.read_sources(ROOT))
        self.assertEqual(list(check_core.compare(counts, check_core.MOST)), [])

    def test_number_tests_are_counted(self):
        text = "if (number == SYS_read || number != SYS_write) switch (n) { case SYS_open: sys(SYS_close, 0); }"
        self.assertEqual(check_core.count({"a.cc": text})[NUMBERS], 3)

    def test_mode_questions_are_counted_but_where_they_are_defined(self):
        text = "if (live() && !replaying()) return modelled();"
        self.assertEqual(check_core.count({"a.cc": text, "base/context.h": text})[MODES], 3)

    def test_a_header_and_its_source_are_one_module(self):
        sources = {"a.h": "", "a.cc": include("b.h"), "b.h": "", "b.cc": include("a.h"), "c.cc": include("a.h")}
        counts = check_core.count(sources)
        self.assertEqual((counts[MODULES], counts[HEADERS]), (2, 1))

    def test_a_long_cycle_is_found(self):
        sources = {f"{i}.h": include(f"{(i + 1) % 5}.h") for i in range(5)}
        self.assertEqual(check_core.count(sources)[HEADERS], 5)

    def test_a_number_may_neither_grow_nor_shrink_unseen(self):
        most = dict.fromkeys(check_core.MOST, 2)
        self.assertEqual(len(list(check_core.compare({NUMBERS: 3}, most))), 1)
        self.assertEqual(len(list(check_core.compare({NUMBERS: 1}, most))), 1)
        self.assertEqual(list(check_core.compare({NUMBERS: 2}, most)), [])


if __name__ == "__main__":
    unittest.main()
