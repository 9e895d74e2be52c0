#!/usr/bin/env python3
"""The files for GitHub Actions and GitLab (scripts/ci): their own steps, run as the services' shells run them.

Leaves out the steps that only the services can do: checking out, fetching and installing packages, and uploading. Reweave
is on the PATH, as its package puts it there."""
import pathlib
import re
import shutil
import subprocess
import unittest

from scratch_case import ScratchCase

LIMIT = 1200  # seconds
ROOT = pathlib.Path(__file__).resolve().parents[2]
FAILURE_FOUND = 10
MESON = """project('bank', 'c')
test('account', executable('account', 'bank_account.c', dependencies: dependency('threads'), c_args: ['-g', '-O1']))
"""
# The steps that need the service or the network; all other steps are run.
ELSEWHERE = ("apt-get", "curl")


def commands_of(text):
    """Returns the commands of the steps: the text after `run:`, and the items of `script:`."""
    found = re.findall(r"^ +run: (.*)$", text, re.M)
    for part in re.findall(r"^  script:\n((?:    .*\n)+)", text, re.M):
        found += re.findall(r"^    - (.*)$", part, re.M)
    return [command for command in found if not command.startswith(ELSEWHERE)]


@unittest.skipUnless(shutil.which("meson"), "no Meson")
class CiFiles(ScratchCase):
    def setUp(self):
        super().setUp()
        shutil.copy(ROOT / "tests/programs/bank_account.c", self.folder)
        (self.folder / "meson.build").write_text(MESON)

    def run_steps(self, name, **environment):
        """Runs the steps: the last must find the failure, the others must succeed. Returns the last one's output."""
        *before, last = commands_of((ROOT / "scripts/ci" / name).read_text())
        last = last.replace("--for 10m", "--for 2m")
        self.assertEqual(len(before), 1)
        for command in (*before, last):
            done = subprocess.run(["sh", "-e", "-c", command], cwd=self.folder, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=LIMIT, check=False, env=environment)
            self.assertEqual(done.returncode, FAILURE_FOUND if command == last else 0, done.stdout + done.stderr)
        return done.stdout

    def test_github(self):
        summary = self.folder / "summary"
        summary.write_text("before\n")
        output = self.run_steps("github.yml", PATH=f"{self.build}:/usr/bin:/bin", GITHUB_STEP_SUMMARY=str(summary))
        self.assertRegex(summary.read_text(), r"\Abefore\n## reweave hunt: .*account.*")
        [error] = re.findall(r"^::error (.*?)::(.*)$", output, re.M)
        self.assertRegex(error[0], r"^file=.*bank_account\.c,line=\d+,title=account$")
        self.assertIn("%0A", error[1])
        self.assertTrue((self.folder / "hunt" / "account" / "failure-1" / "report.html").is_file())

    def test_gitlab(self):
        self.run_steps("gitlab.yml", PATH=f"{self.build}:/usr/bin:/bin")
        self.assertIn("<failure", (self.folder / "hunt" / "junit.xml").read_text())

    def test_what_annotations_cannot_be_made_to_say(self):
        summary = self.folder / "summary"
        words = ["/bin/sh", "-c", "printf 'x\\n::set-env name=A::b\\n'; exit 1", "a:b,c%\n::warning::w"]
        done = subprocess.run([self.build / "reweave", "hunt", "--github", "-o", self.folder / "hunt", "--", *words],
                              cwd=self.folder, capture_output=True, text=True, timeout=LIMIT, check=False,
                              env={"PATH": "/usr/bin:/bin", "GITHUB_STEP_SUMMARY": str(summary)})
        self.assertEqual(done.returncode, FAILURE_FOUND, done.stdout + done.stderr)
        token = re.search(r"^::stop-commands::(\w+)$", done.stdout, re.M)[1]
        outside = re.sub(rf"(?s)^::stop-commands::{token}\n.*\n::{token}::\n", "", done.stdout)
        lines = [line for line in outside.splitlines() if line.lstrip().startswith("::")]
        self.assertEqual(len(lines), 1, done.stdout)
        self.assertRegex(lines[0], r"^::error title=[^:,]*::")

    def test_elsewhere_it_is_refused(self):
        done = subprocess.run([self.build / "reweave", "hunt", "--github", "-o", self.folder / "hunt", "--runs", "1", "--",
                               "/bin/true"], capture_output=True, text=True, timeout=LIMIT, check=False,
                              env={"PATH": "/usr/bin:/bin"})
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr.splitlines()[-1], r"^reweave: .*GITHUB_STEP_SUMMARY$")


if __name__ == "__main__":
    CiFiles.main()
