#!/usr/bin/env python3
"""scripts/readme_output.py: which differences in output are accepted, and how a page is rewritten."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import readme_output  # noqa: E402


def check_page(text, *arguments):
    """Runs the script on a page with this text. Returns (exit status, the page afterwards)."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "PAGE.md"
        page.write_text(text)
        done = subprocess.run([sys.executable, ROOT / "scripts" / "readme_output.py", *arguments, page],
                              capture_output=True, check=False)
        return done.returncode, page.read_text()


class ReadmeOutput(unittest.TestCase):
    def test_numbers_and_addresses_may_differ(self):
        self.assertTrue(readme_output.same(["at 0x12ab, 1,024 events"], ["at 0xff,  7 events"]))
        self.assertFalse(readme_output.same(["7 events"], ["7 threads"]))

    def test_dots_stand_for_any_lines(self):
        self.assertTrue(readme_output.same(["a", "...", "z"], ["a", "b", "c", "z"]))
        self.assertTrue(readme_output.same(["a", "..."], ["a"]))
        self.assertFalse(readme_output.same(["a", "...", "z"], ["a", "b"]))

    def test_true_page(self):
        self.assertEqual(check_page("```console\n$ x=5; echo a $x\na 7\n$ echo b $x >&2\nb 5\n```\n")[0], 0)

    def test_untrue_page(self):
        self.assertEqual(check_page("```console\n$ echo a\nb\n```\n")[0], 1)
        self.assertEqual(check_page("```console\n$ exit 3\n$ echo a\na\n```\n")[0], 1)

    def test_write(self):
        status, page = check_page("text\n```console\n$ echo a\nb\n$ seq 9\n1\n...\n9\n```\nrest\n", "--write")
        self.assertEqual(status, 0)
        self.assertEqual(page, "text\n```console\n$ echo a\na\n$ seq 9\n1\n...\n9\n```\nrest\n")


if __name__ == "__main__":
    unittest.main()
