#!/usr/bin/env python3
"""scripts/manual.py: every verb has a page, and the examples of the pages run.

    manual_test.py REWEAVE PROGRAM

PROGRAM is bank_account, built with -fsanitize=thread. Each verb's examples run in a folder of their own, in order. The
folder has what examples.cc promises: ./program, a passing recording `rec` and a failing one, `found/failure-1`.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import manual  # noqa: E402

PROGRAM, REWEAVE = pathlib.Path(sys.argv.pop()).resolve(), pathlib.Path(sys.argv.pop()).resolve()
# Exit statuses of `hunt` and `explore` when they find a failure, and of the program when it fails.
FOUND, ABORTED = 10, 134
ALLOWED = {"campaign": {0, 10}, "hunt": {FOUND}, "explore": {0, FOUND}, "record": {0, ABORTED}, "predict": {0, FOUND}}


def run(command, folder):
    environment = dict(os.environ, PATH=f"{REWEAVE.parent}:{os.environ['PATH']}", REWEAVE_DIR=str(folder / "recordings"))
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False,
                          timeout=600, errors="replace")


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.helps = {item.name: manual.read_help(REWEAVE, item.name) for item in manual.verbs_of(manual.read_help(REWEAVE))}
        cls.folder = tempfile.TemporaryDirectory(prefix="reweave-manual-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.prepared = pathlib.Path(cls.folder.name) / "prepared"
        cls.prepared.mkdir()
        shutil.copy2(PROGRAM, cls.prepared / "program")
        recorded = run("reweave record --seed 1 -o rec -- ./program", cls.prepared)
        assert recorded.returncode == 0, recorded.stderr
        compiler = REWEAVE.parent / "recorder/compiler/reweave-cc"
        cls.has_sleds = (compiler.parent / "reweave-sleds-14.so").exists()
        if cls.has_sleds:
            source = ROOT / "tests/programs/bank_account.c"
            subprocess.run([compiler, "-g", "-pthread", source, "-o", cls.prepared / "program-with-summary"], check=True)
        found = run("reweave explore rec --runs 1000 --first -o found", cls.prepared)
        assert found.returncode == FOUND, found.stdout + found.stderr

    def test_examples_run(self):
        for verb, shown in self.helps.items():
            examples = [item.name for item in shown.sections["Examples"]]
            folder = pathlib.Path(self.folder.name) / verb
            # Files that the examples create must not exist before.
            made = [match[1] for line in examples if (match := re.search(r"-o (\S+)", line))]
            shutil.copytree(self.prepared, folder, symlinks=True, ignore=lambda _, names: set(made) & set(names))
            if verb == "suspects":  # its program is built by reweave-cc
                if not self.has_sleds:
                    continue
                shutil.move(folder / "program-with-summary", folder / "program")
            for line in examples:
                with self.subTest(example=line):
                    done = run(line, folder)
                    self.assertIn(done.returncode, ALLOWED.get(verb, {0}), done.stdout + done.stderr)

    def test_pages_show_the_examples(self):
        for verb, shown in self.helps.items():
            text = manual.page(f"reweave-{verb}", verb, shown, "1", self.helps, [])
            self.assertIn(".SH EXAMPLES", text)
            for item in shown.sections["Examples"]:
                self.assertTrue(item.name.startswith(f"reweave {verb}"), item.name)
                self.assertTrue(item.text, item.name)
                self.assertIn(manual.roff(item.name), text)

    def test_notes_keep_their_lines(self):
        notes = manual.page("reweave-hunt", "hunt", self.helps["hunt"], "1", self.helps, []).partition(".SH NOTES\n")[2]
        self.assertGreater(notes.partition(".SH ")[0].count("\n.br\n"), 2)

    def test_bash_completes_what_an_option_may_be(self):
        for words, expected in (("replay rec -g", "end inevitable"), ("replay --goto", "end inevitable")):
            words = ["reweave", *words.split(), ""]
            done = subprocess.run(["bash", "-c", manual.bash(self.helps) + 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _reweave; '
                                   'echo "${COMPREPLY[@]}"', *words[:1], *words], capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout.strip(), expected)

    def test_every_verb_has_a_page_and_is_tested_with_bad_input(self):
        listed = re.search(r"foreach verb : \[(.*?)\]", (ROOT / "meson.build").read_text())[1]
        self.assertEqual(sorted(re.findall(r"'(\w+)'", listed)), sorted(self.helps))
        tested = re.search(r"^VERBS = \[(.*?)\]", (ROOT / "tests/end_to_end/statuses_check.py").read_text(), re.M | re.S)[1]
        self.assertEqual(sorted(re.findall(r'"(\w+)"', tested)), sorted(self.helps))
        table = (ROOT / "README.md").read_text().partition("## Verbs")[2].partition("\n## ")[0]
        self.assertEqual(sorted(re.findall(r"^\| `(\w+)", table, re.M)), sorted(self.helps))


if __name__ == "__main__":
    unittest.main()
