#!/usr/bin/env python3
"""scripts/check_english.py: the tree is within its limit, and comments are found and judged."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import check_english  # noqa: E402


class CheckEnglish(unittest.TestCase):
    def test_the_tree_is_within_its_limit(self):
        self.assertLessEqual(sum(check_english.count(ROOT)[0].values()), check_english.MOST)

    def test_blocks_of_lines_are_comments(self):
        text = "// One line,\n// and another.\nint a;  // not this\n  // Third.\n"
        self.assertEqual(check_english.comments(pathlib.Path("a.cc"), text), ["One line, and another.", "Third."])
        self.assertEqual(check_english.comments(pathlib.Path("a.py"), "# One\nx = 1  # no\n"), ["One"])

    def test_code_and_tables_of_documents_are_none(self):
        text = "# Title\n\nA paragraph\nof two lines.\n\n```sh\nwhat it does\n```\n\n| a | b |\n"
        self.assertEqual(check_english.comments(pathlib.Path("a.md"), text), ["A paragraph of two lines."])

    def test_patterns(self):
        for text in ("What mlock has locked munlockall unlocks.", "Waits in vain.", "The stack that lies below.",
                     "Stops, for the run has ended.", "Others, too.", "word " * 36):
            self.assertEqual(len(check_english.complaints(text)), 1, text)
        for text in ("munlockall undoes every mlock.", "Waits without success.", "word " * 35, "Runs for a second."):
            self.assertEqual(check_english.complaints(text), [], text)


if __name__ == "__main__":
    unittest.main()
