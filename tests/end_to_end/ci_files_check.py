#!/usr/bin/env python3
"""The files for GitHub Actions and GitLab (scripts/ci): their own steps, run as the services' shells run them.

Leaves out the steps that only the services can do: checking out, fetching and installing packages, and uploading. Reweave
is on the PATH, as its package puts it there."""
import json
import pathlib
import re
import shutil
import subprocess
import unittest

import yaml

from scratch_case import ScratchCase

LIMIT = 1200  # seconds
ROOT = pathlib.Path(__file__).resolve().parents[2]
FAILURE_FOUND = 10
MESON = """project('bank', 'c')
test('account', executable('account', 'account.c', dependencies: dependency('threads'), c_args: ['-g', '-O1']))
"""
# The steps that need the service or the network; all other steps are run.
ELSEWHERE = ("apt-get", "curl")
# A hunt of a correct program would last as long as it may.
LIMITED = {"--for 10m": "--for 10m --runs 40", "--for 1h": "--for 1h --runs 40"}


def steps_of_github(event, shard):
    """Yields (command, environment) of the steps that run if no step before them fails."""
    expressions = {"github.event_name == 'schedule'": event == "schedule",
                   "github.event_name != 'schedule'": event != "schedule",
                   "success()": True, "failure()": False}
    job = yaml.safe_load((ROOT / "scripts/ci/github.yml").read_text())["jobs"]["hunt"]
    for step in job["steps"]:
        if "run" in step and expressions[step.get("if", "success()")]:
            yield step["run"], {name: value.replace("${{ matrix.shard }}", shard)
                                for name, value in step.get("env", {}).items()}


def steps_of_gitlab(event, shard):
    jobs = yaml.safe_load((ROOT / "scripts/ci/gitlab.yml").read_text())
    number, _, count = shard.partition("/")
    operator = "==" if event == "schedule" else "!="
    [job] = [job for job in jobs.values()
             if job.get("rules") == [{"if": f'$CI_PIPELINE_SOURCE {operator} "schedule"'}]]
    assert job.get("parallel", 1) == int(count)
    for command in jobs[job["extends"]]["before_script"] + job["script"]:
        yield command, {"CI_NODE_INDEX": number, "CI_NODE_TOTAL": count}


@unittest.skipUnless(shutil.which("meson"), "no Meson")
class CiFiles(ScratchCase):
    def write_program(self, name, *, changed=False):
        """Makes a checkout whose only test is this program."""
        text = (ROOT / f"tests/programs/{name}.c").read_text()
        (self.folder / "account.c").write_text(text + "int changed = 1;\n" * changed)
        (self.folder / "meson.build").write_text(MESON)

    def run_job(self, steps, *, fails, **environment):
        """Runs the steps of a job in a new checkout. Returns what its hunt printed."""
        for folder in ("build", "hunt"):
            shutil.rmtree(self.folder / folder, ignore_errors=True)
        for command, more in steps:
            if command.startswith(ELSEWHERE):
                continue
            hunts = command.startswith("reweave hunt")
            for given, limited in LIMITED.items():
                command = command.replace(given, limited)
            done = subprocess.run(["sh", "-e", "-c", command], cwd=self.folder, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=LIMIT, check=False,
                                  env={"PATH": f"{self.build}:/usr/bin:/bin", **environment, **more})
            self.assertEqual(done.returncode, FAILURE_FOUND if hunts and fails else 0, done.stdout + done.stderr)
            if hunts:
                output = done.stdout
                if fails:
                    break
        return output

    def test_github(self):
        summary = self.folder / "summary"
        summary.write_text("before\n")
        self.write_program("bank_account")
        output = self.run_job(steps_of_github("push", "1/1"), fails=True, GITHUB_STEP_SUMMARY=str(summary))
        self.assertRegex(summary.read_text(), r"\Abefore\n## reweave hunt: .*account.*")
        [error] = re.findall(r"^::error (.*?)::(.*)$", output, re.M)
        self.assertRegex(error[0], r"^file=.*account\.c,line=\d+,title=account$")
        self.assertIn("%0A", error[1])
        self.assertTrue((self.folder / "hunt" / "account" / "failure-1" / "report.html").is_file())

    def test_gitlab(self):
        self.write_program("bank_account")
        self.run_job(steps_of_gitlab("push", "1/1"), fails=True)
        self.assertIn("<failure", (self.folder / "hunt" / "junit.xml").read_text())
        self.assertEqual(len(json.loads((self.folder / "hunt" / "quality.json").read_text())), 1)

    def test_only_changed_tests_are_searched_again(self):
        summary = self.folder / "summary"
        def searched_runs(steps):
            self.run_job(steps, fails=False, GITHUB_STEP_SUMMARY=str(summary))
            [target] = json.loads((self.folder / "hunt" / "hunt.json").read_text())["targets"]
            return sum(search["runs"] for search in target["searches"]), target["unchanged_since"]
        for steps_of in (steps_of_github, steps_of_gitlab):
            shutil.rmtree(self.folder / "known", ignore_errors=True)
            self.write_program("bank_account_ok")
            self.assertEqual(searched_runs(steps_of("push", "1/1")), (40, None))
            for _ in range(2):
                self.assertEqual(searched_runs(steps_of("push", "1/1")), (0, "known/hunt.json"))
            self.write_program("bank_account_ok", changed=True)
            self.assertEqual(searched_runs(steps_of("push", "1/1")), (40, None))
        self.assertIn("unchanged since known/hunt.json, when 40 runs found no failure", summary.read_text())

    def test_all_tests_at_night(self):
        self.write_program("bank_account_ok")
        for steps_of in (steps_of_github, steps_of_gitlab):
            seeds = set()
            for number in range(1, 5):
                self.run_job(steps_of("schedule", f"{number}/4"), fails=False,
                             GITHUB_STEP_SUMMARY=str(self.folder / "summary"))
                [target] = json.loads((self.folder / "hunt" / "hunt.json").read_text())["targets"]
                seeds.update(search["seed"] for search in target["searches"])
            self.assertEqual(len(seeds), 4)

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
