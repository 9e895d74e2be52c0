#!/usr/bin/env python3
"""Everything that the documents name exists, and the check for this (scripts/check_docs.py) fails on made-up names.

    docs_test.py REWEAVE
"""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import check_docs  # noqa: E402

VERBS = check_docs.Verbs(sys.argv.pop(1))
# Existing names, each with a made-up variant.
NAMED = [
    ("`recorder/core/dispatch.cc`", "`recorder/core/despatch.cc`"),
    ("`recorder/core/`", "`recorder/heart/`"),
    ("`docs/decisions/0001-count-schedule-points.md`", "`docs/decisions/0001-count.md`"),
    ("`rows.inc`", "`columns.inc`"),
    ("`due_switch` in `recorder/core/schedule/recorded_switches.cc`", "`due_switch` in `recorder/core/dispatch.cc`"),
    ("`note_pause_site`", "`note_no_pause_site`"),
    ("`free_baton()`", "`free_no_baton()`"),
    ("`Campaign::note_long`", "`Campaign::note_tall`"),
    ("`OutKind`", "`OutSort`"),
    ("`REWEAVE_DIR`", "`REWEAVE_NO_DIR`"),
    ("`TSAN_OPTIONS`", "`TSAN_NO_OPTIONS`"),
    ("`reweave explore`", "`reweave implore`"),
    ("`reweave explore DIR --runs 5`", "`reweave explore DIR --walks 5`"),
    ("`reweave replay -g end`", "`reweave replay -z end`"),
    ("`record --chaos`", "`record --order`"),
    ("`--chaos`", "`--disorder`"),
    ("| `record DIR` | `--chaos` |", "| `record DIR` | `--fork-at` |"),
    ("`scripts/bench record -n 3`", "`scripts/banch record -n 3`"),
    ("`scripts/bench predict --chart FILE`", "`scripts/bench predict --drawing FILE`"),
    ("`scripts/bench growth`", "`scripts/bench shrinkage`"),
    ("[map](docs/map.md)", "[map](docs/mop.md)"),
    ('`docs/hard-bugs.md`, "A switch too early"', '`docs/hard-bugs.md`, "A switch too far"'),
    ("```sh\nscripts/build --all   # text\n```\n", "```sh\nscripts/build --none   # text\n```\n"),
    ("```console\n$ reweave ps first\n  reweave output\n```\n", "```console\n$ reweave qs first\n```\n"),
]


class Docs(unittest.TestCase):
    def test_what_the_documents_name_exists(self):
        for page in check_docs.documents():
            with self.subTest(page=page.name):
                text = page.read_text(encoding="utf-8")
                self.assertEqual(list(check_docs.problems(text, VERBS, page.parent)), [])

    def test_figures_can_be_made_again(self):
        self.assertEqual(list(check_docs.figure_problems()), [])

    def test_made_up_names_are_found(self):
        for real, made_up in NAMED:
            with self.subTest(made_up=made_up):
                self.assertEqual(list(check_docs.problems(real, VERBS)), [])
                self.assertEqual(len(list(check_docs.problems(made_up, VERBS))), 1)

    def test_other_programs_are_let_be(self):
        for text in ("`ctest --test-dir build`", "`gcc -static-libtsan`", "`x`", "`/proc/self/fd`", "`0x5259`", "`a < b`"):
            self.assertEqual(list(check_docs.problems(text, VERBS)), [])

    def test_every_decision_is_in_the_index_under_its_title(self):
        folder = ROOT / "docs" / "decisions"
        index = " ".join((folder / "README.md").read_text(encoding="utf-8").split())
        records = sorted(folder.glob("0*.md"))
        for number, record in enumerate(records, start=1):
            title = record.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
            self.assertEqual(title.split(".")[0], str(number))
            self.assertEqual(record.name[:4], f"{number:04}")
            self.assertIn(f"[{title}]({record.name})", index)

    def test_architecture_cites_records_that_exist(self):
        text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
        cited = {int(n) for n in check_docs.re.findall(r"\[(\d+)\]", text)}
        there = {int(record.name[:4]) for record in (ROOT / "docs" / "decisions").glob("0*.md")}
        self.assertEqual(cited - there, set())


if __name__ == "__main__":
    unittest.main()
