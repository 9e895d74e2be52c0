#!/usr/bin/env python3
"""scripts/check_english.py: the tree is within its limit, and comments, messages and paragraphs are found and judged."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import check_english  # noqa: E402


def passages(name, text):
    return check_english.passages(pathlib.PurePosixPath(name), text)


class CheckEnglish(unittest.TestCase):
    def test_the_tree_is_within_its_limit(self):
        self.assertLessEqual(sum(check_english.count(ROOT)[0].values()), check_english.MOST)

    def test_scripts_without_extension_are_read(self):
        names = {path.as_posix() for path, _ in check_english.files(ROOT)}
        for name in ("scripts/bench", "scripts/demo", "scripts/ci/record-tests", "recorder/core/entry.S", "README.md"):
            self.assertIn(name, names)
        self.assertFalse([name for name in names if name.startswith("tests/programs/") or name.endswith(".json")])

    def test_kinds(self):
        for name, text, kind in (("a.h", "", "c++"), ("a.js", "", "code"), ("a.py", "", "python"), ("a.md", "", "document"),
                                 ("bench", "#!/usr/bin/env python3\n", "python"), ("demo", "#!/bin/sh\n", "shell"),
                                 ("a.json", "{}", None), ("notes", "python", None)):
            self.assertEqual(check_english.kind_of(pathlib.PurePosixPath(name), text), kind, name)

    def test_blocks_of_lines_are_comments(self):
        text = "// One line,\n// and another.\nint a;\n  // Third.\n// Fourth.\n"
        self.assertEqual(passages("a.cc", text), ["One line, and another.", "Third.", "Fourth."])
        self.assertEqual(passages("a.py", "# One\n# comment\nx = 1  # and two\n"), ["One comment", "and two"])
        self.assertEqual(passages("demo", "#!/bin/sh\n# One\n# comment\ndate  # not this\n"), ["One comment"])

    def test_comments_after_code(self):
        text = 'int a;  // One,\n        // which goes to the next line.\n// Two.\nint b;  // Three.\nint c;  // Four.\n'
        self.assertEqual(passages("a.h", text), ["One, which goes to the next line.", "Two.", "Three.", "Four."])

    def test_strings_are_no_comments_and_comments_no_strings(self):
        text = "f(\"http://a\", '\"', 60'000, R\"(// \"no\" (this))\");  // a \"string\" there\n/* \"neither one\" */\n"
        self.assertEqual(passages("a.cc", text), ['a "string" there'])

    def test_messages(self):
        text = 'f("One line,\\n"\n  "and another", "word", " ", "said \\"no\\" twice");\n'
        self.assertEqual(passages("a.cc", text), ["One line,  and another", 'said \\"no\\" twice'])
        self.assertEqual(passages("tests/a.cc", text), [])
        self.assertEqual(passages("a.py", 'f("one", f"two {x} words" " and more")\n'), ["two {} words and more"])
        self.assertEqual(passages("tests/a.py", 'f("two words")\n'), [])

    def test_assembly_and_regular_expressions_are_no_messages(self):
        self.assertEqual(passages("a.cc", 'asm("movq %%gs:0, %0"); asm("je 8f\\n\\t" "nop");\n'), [])
        self.assertEqual(passages("a.py", r'f(r"\b(so many)\b")' + "\n"), [])

    def test_docstrings(self):
        text = '"""One line.\n\nAnother,\nof two.\n"""\ndef f():\n    """A third."""\n'
        for name in ("a.py", "tests/a.py"):
            self.assertEqual(passages(name, text), ["One line.", "Another, of two.", "A third."])

    def test_paragraphs_and_cells_of_documents(self):
        text = "# Title\n\nA paragraph\nof two lines.\n\n```sh\nwhat it does\n```\n\n| a | b \\| c |\n|---|---|\n| 1 | |\n"
        self.assertEqual(passages("a.md", text), ["A paragraph of two lines.", "a", "b \\| c", "1"])

    def test_patterns(self):
        for text in ("What mlock has locked munlockall unlocks.", "Waits in vain.", "The stack that lies below.",
                     "Stops, for the run has ended.", "Others, too.", "word " * 36):
            self.assertEqual(len(check_english.complaints(text)), 1, text)
        for text in ("munlockall undoes every mlock.", "Waits without success.", "word " * 35, "Runs for a second.",
                     "column  " * 36):
            self.assertEqual(check_english.complaints(text), [], text)


if __name__ == "__main__":
    unittest.main()
