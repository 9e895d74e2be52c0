#!/usr/bin/env python3
"""The verb campaign: units that are killed and run again, in any order, give the same results; what merge keeps."""
import html
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest

from campaign_case import BAD_INPUT, CampaignCase, FAILURE_FOUND, LIMIT, NOT_EXAMINED

PASSING = "int main(void) { return 0; }"
# A correct program with more than one schedule, so that a search does not end at once.
LONG_SEARCH = """
#include <pthread.h>
static void* work(void* none) { return none; }
int main(void) { pthread_t a; pthread_create(&a, 0, work, 0); pthread_join(a, 0); return 0; }
"""
# A lost update. The text in the comment makes each program a different file.
COUNTER = """
#include <assert.h>
#include <pthread.h>
static int count;
static void* add(void* none) { int seen = count; count = seen + 1; return none; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, add, 0); pthread_create(&b, 0, add, 0);
  pthread_join(a, 0); pthread_join(b, 0);
  assert(count == 2); /* %s */
  return 0;
}
"""
HOSTILE_NAME = "<script>alert(1)</script>\u202e\x1b[31m`x`|"


class Campaigns(CampaignCase):
    def units_of(self, campaign):
        """Returns the process IDs of the campaign's running units."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            if words[1:4] == [b"explore", b"--campaign", str(campaign).encode()]:
                found.append((int(entry.name), parent))
        workers = {pid for pid, _ in found}
        return [pid for pid, parent in found if parent not in workers]

    def test_killed_units_are_made_again(self):
        recording = self.recorded("bank_account")
        quiet, disturbed = self.new("quiet", recording), self.new("disturbed", recording)
        self.reweave("campaign", "run", quiet, "--jobs", "2")
        killed = 0
        runner = subprocess.Popen([self.build / "reweave", "campaign", "run", disturbed, "--jobs", "2"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + LIMIT
        while killed < 3 and time.monotonic() < end and runner.poll() is None:
            for pid in self.units_of(disturbed)[:1]:
                os.kill(pid, signal.SIGKILL)
                killed += 1
            time.sleep(0.1)
        runner.wait(timeout=LIMIT)
        # Runs the units that were killed or that failed twice, in another order, as GNU parallel would.
        command = f"seq 7 -1 0 | xargs -P 2 -I K {self.build}/reweave explore --campaign {disturbed} --unit K"
        subprocess.run(["sh", "-c", command], check=True, timeout=LIMIT)
        self.assertEqual(killed, 3)
        self.assertEqual(self.published(quiet), self.published(disturbed))
        self.assertEqual(len(self.published(quiet)), 8)
        told, files = self.merged(quiet)
        self.assertEqual((told["complete"], len(told["causes"])), (True, 1))
        self.assertEqual(self.merged(disturbed), (told, files))
        [failure] = told["cases"][0]["failures"]
        self.assertTrue(failure["reproduced"])
        self.assertIn("Assertion", failure["last_words"])
        self.reweave("replay", quiet / "merged" / failure["recording"], status=134)
        self.assertEqual(self.merged(quiet), (told, files))  # a second merge replaces the first

    def test_a_unit_is_made_once(self):
        campaign = self.new("once", self.recorded("bank_account"), units=2, runs=10)
        self.unit(campaign, 1)
        [name] = self.published(campaign)
        before = next((campaign / "units").glob("*/*")).stat()
        self.unit(campaign, 1)
        after = next((campaign / "units").glob("*/*")).stat()
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))
        self.assertTrue(name.startswith("00000001-"))
        _, errors = self.unit(campaign, 2, status=BAD_INPUT)
        self.assertRegex(errors, r"\Areweave: .* has the units 0 to 1\n\Z")
        told, _ = self.merged(campaign)
        self.assertFalse(told["complete"])
        self.assertEqual((told["cases"][0]["done"], told["cases"][0]["units"]), (1, 2))

    def test_told_to_stop(self):
        campaign = self.new("stopped", self.recorded("bank_account"), units=1, runs=100_000)
        worker = subprocess.Popen([self.build / "reweave", "explore", "--campaign", campaign, "--unit", "0"],
                                  stderr=subprocess.PIPE, text=True)
        time.sleep(3)
        start = time.monotonic()
        worker.send_signal(signal.SIGTERM)
        _, errors = worker.communicate(timeout=LIMIT)
        self.assertLess(time.monotonic() - start, 25)
        self.assertEqual(worker.returncode, 128 + signal.SIGTERM)
        self.assertIn("kept as partial", errors)
        self.assertEqual((self.published(campaign), len(self.published(campaign, "partial"))), ([], 1))
        output, _ = self.reweave("campaign", "status", campaign)
        self.assertIn("0 of 1 unit of", output)
        self.assertIn("in part: 1 more", output)
        told, _ = self.merged(campaign)
        self.assertEqual((told["complete"], told["cases"][0]["partial"]), (False, 1))
        self.assertEqual(len(told["cases"][0]["failures"]), 1)

    def test_rounds(self):
        recording = self.recorded("bank_account")
        first = self.new("first", recording, units=4, runs=30, options=("--rounds", "2"))
        second = self.new("second", recording, units=4, runs=30, options=("--rounds", "2"))
        _, errors = self.unit(first, 2, status=NOT_EXAMINED)
        self.assertRegex(errors, r"\Areweave: round 1 of '.*' begins when round 0 is done.*2 of 2 units are missing\n\Z")
        self.reweave("campaign", "run", first, "--jobs", "2")
        output, _ = self.reweave("campaign", "run", second, "--shard", "1/2", "--jobs", "1", status=NOT_EXAMINED)
        self.assertIn("1 unit made", output)
        self.assertIn("units that wait for the previous round: 1", output)
        for unit in (1, 3, 2):
            self.unit(second, unit)
        for kind in ("units", "knowledge", "rounds"):
            self.assertEqual(self.published(first, kind), self.published(second, kind))
        self.assertEqual([len(self.published(first, kind)) for kind in ("knowledge", "rounds")], [2, 1])
        self.assertEqual(self.merged(first), self.merged(second))

    def test_many_recordings(self):
        recordings = [self.recorded(f"counter{i}", COUNTER % i) for i in range(2)]
        recordings.append(self.recorded("passing", PASSING))
        campaign = self.new("many", *recordings, units=2, runs=20)
        self.assertLess(len(list((campaign / "files").iterdir())),
                        sum(len(list(path.iterdir())) for path in campaign.glob("cases/*/files")))
        self.reweave("campaign", "run", campaign)
        told, files = self.merged(campaign)
        self.assertEqual([len(one["failures"]) for one in told["cases"]], [1, 1, 0])
        [cause] = told["causes"]
        self.assertEqual(len(cause["failures"]), 2)
        self.assertIn("add", cause["functions"])
        self.assertIn("case-000001.html", files)
        self.assertNotIn("case-000002.html", files)
        output, _ = self.reweave("campaign", "merge", campaign, "--json", "--verify", "2", status=FAILURE_FOUND)
        self.assertEqual(json.loads(output), told)
        shutil.rmtree(campaign / "units")
        (campaign / "units").mkdir()
        output, _ = self.reweave("campaign", "merge", campaign, status=NOT_EXAMINED)
        self.assertIn("no run could be examined", output)

    def damaged(self, campaign, text):
        """Returns the message of a merge in which a unit's file has the content `text`."""
        for path in (campaign / "units").glob("*/*"):
            path.unlink()
        shard = campaign / "units" / "00000"
        shard.mkdir(exist_ok=True)
        (shard / "00000000-0123456789abcdef.json").write_text(text)
        _, errors = self.reweave("campaign", "merge", campaign, status=BAD_INPUT)
        self.assertRegex(errors, r"\Areweave: [^\n]*\n\Z")
        return errors

    def test_hostile_folders(self):
        campaign = self.new("hostile", self.recorded("passing", PASSING), units=2, runs=2)
        plan = json.loads((campaign / "campaign.json").read_text())
        self.assertIn("does not match its name", self.damaged(campaign, "{}\n"))
        self.assertIn("no whole line", self.damaged(campaign, "{}"))
        shard = campaign / "units" / "00000"
        for make in (lambda path: os.mkfifo(path), lambda path: path.symlink_to("/etc/passwd"), lambda path: path.mkdir()):
            self.damaged(campaign, "")
            (shard / "00000000-0123456789abcdef.json").unlink()
            make(shard / "00000000-0123456789abcdef.json")
            _, errors = self.reweave("campaign", "merge", campaign, status=BAD_INPUT)
            self.assertRegex(errors, r"\Areweave: [^\n]*\n\Z")
            shutil.rmtree(shard)
        shard.mkdir()
        with open(shard / "00000000-0123456789abcdef.json", "wb") as large:
            large.truncate(1 << 33)
        _, errors = self.reweave("campaign", "merge", campaign, status=BAD_INPUT)
        self.assertIn("longer than", errors)
        (shard / "00000000-0123456789abcdef.json").unlink()
        (shard / "..json").write_text("")
        (shard / f"{2 ** 70}-0123456789abcdef.json").write_text("")
        self.reweave("campaign", "merge", campaign, status=NOT_EXAMINED)
        for change in ({"units": -1}, {"units": 3, "rounds": 2}, {"cases": []}, {"id": "../../../etc/xxx"},
                       {"units": 1 << 40}, {"strategy": "none"}, {"cases": [{"name": "a"}]}, {"runs": "1"}, {"depth": 1e99}):
            (campaign / "campaign.json").write_text(json.dumps({**plan, **change}))
            _, errors = self.reweave("campaign", "status", campaign, status=BAD_INPUT)
            self.assertRegex(errors, r"\Areweave: [^\n]*\n\Z")
        for text in ("", "[]", "{" * 100_000, '{"format":"reweave-hunt"}'):
            (campaign / "campaign.json").write_text(text)
            self.reweave("campaign", "run", campaign, status=BAD_INPUT)

    def test_hostile_names(self):
        campaign = self.new("names", self.recorded("counter", COUNTER % ""), units=1, runs=20)
        plan = json.loads((campaign / "campaign.json").read_text())
        plan["cases"][0]["name"] = HOSTILE_NAME
        (campaign / "campaign.json").write_text(json.dumps(plan))
        self.reweave("campaign", "run", campaign)
        output, _ = self.reweave("campaign", "merge", campaign, "--verify", "1", status=FAILURE_FOUND)
        self.assertNotIn("\x1b", output)
        for name in ("index.html", "case-000000.html"):
            page = (campaign / "merged" / name).read_text()
            self.assertNotIn("<script", page)
            page = html.unescape(page.replace("&lt;script", ""))
            self.assertIn("default-src 'none'", page)
            for text in ("<script", "\u202e", "\x1b", "http:", "https:", "src="):
                self.assertNotIn(text, page.replace("img-src data", ""))
        summary = (campaign / "merged" / "summary.md").read_text()
        self.assertNotIn("<script", summary)
        self.assertNotIn("\x1b", summary)

    def test_differing_results(self):
        campaign = self.new("differing", self.recorded("passing", PASSING), units=1, runs=2)
        self.unit(campaign, 0)
        [path] = (campaign / "units").glob("*/*")
        (path.parent / "00000000-0123456789abcdef.json").write_bytes(path.read_bytes())
        _, errors = self.reweave("campaign", "merge", campaign, status=BAD_INPUT)
        self.assertIn("differ, though a unit always gives the same result", errors)

    def test_the_script_of_a_job_array(self):
        campaign = self.new("array", self.recorded("passing", PASSING), units=3, runs=2)
        script, _ = self.reweave("campaign", "sbatch", campaign, "--at-once", "2", "--time", "10")
        for line in ("--array=0-2%2", "--requeue", "--time=10", "--signal=B:TERM@60"):
            self.assertIn(f"#SBATCH {line}\n", script)
        for task in (2, 0, 1):
            subprocess.run(["sh"], input=script, text=True, check=True, timeout=LIMIT,
                           env={**os.environ, "SLURM_ARRAY_TASK_ID": str(task)})
        self.assertEqual(len(self.published(campaign)), 3)
        campaign = self.new("long", self.recorded("long_search", LONG_SEARCH), units=3000, runs=100_000)
        script, _ = self.reweave("campaign", "sbatch", campaign)
        self.assertIn("#SBATCH --array=0-999%16\n", script)
        job = subprocess.Popen(["sh"], stdin=subprocess.PIPE, text=True, stderr=subprocess.PIPE,
                               env={**os.environ, "SLURM_ARRAY_TASK_ID": "999"})
        job.stdin.write(script)
        job.stdin.close()
        time.sleep(2)
        job.send_signal(signal.SIGTERM)
        job.wait(timeout=LIMIT)
        self.assertEqual((job.returncode, self.published(campaign)), (143, []), job.stderr.read())
        self.assertTrue(self.published(campaign, "partial")[0].startswith("00002997-"))
        job.stderr.close()

    def test_usage(self):
        for words in (["frob", "x"], ["run", "/nowhere"], ["new", self.folder / "x"], ["run", self.folder, "--units", "2"],
                      ["new", self.folder / "x", self.folder], ["status", self.folder, "y"]):
            _, errors = self.reweave("campaign", *words, status=BAD_INPUT)
            self.assertRegex(errors, r"\Areweave: [^\n]*\n\Z")
        recording = self.recorded("passing", PASSING)
        for options in (["--units", "3", "--rounds", "2"], ["--strategy", "dfs", "--units", "2"], ["--strategy", "x"]):
            self.reweave("campaign", "new", self.folder / "x", recording, *options, status=BAD_INPUT)
        self.assertFalse((self.folder / "x").exists())
        self.reweave("explore", "--campaign", "x", status=BAD_INPUT)
        self.reweave("explore", "--campaign", "x", "--unit", "1", "--runs", "3", status=BAD_INPUT)
        self.assertTrue(re.search(r"\bcampaign\b", self.reweave("--help")[0]))


if __name__ == "__main__":
    Campaigns.main()
