#!/usr/bin/env python3
"""A campaign under real Slurm on this machine: killing units, or the daemon of a node, does not change the results.

Skipped where Slurm is not installed; scripts/setup does not install it."""
import os
import pathlib
import re
import signal
import sys
import time

import slurm_cluster
from campaign_case import CampaignCase

UNITS = 8
RUNS = 4000  # so many that a unit takes seconds, and can be killed while it works
SKIPPED = 77


class UnderSlurm(CampaignCase):
    def setUp(self):
        super().setUp()
        (self.folder / "slurm").mkdir()
        self.cluster = slurm_cluster.Cluster(self.folder / "slurm")

    def tearDown(self):
        self.cluster.stop_all()
        super().tearDown()

    def processes(self, pattern):
        """Returns the IDs of our cluster's processes whose command line matches `pattern`. Ignores any other Slurm."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
                is_ours = str(self.folder).encode() in (entry / "environ").read_bytes()
            except OSError:
                continue
            if entry.name.isdigit() and is_ours and re.search(pattern, words):
                found.append(int(entry.name))
        return found

    def wait_for_unit(self, pattern):
        """Returns the ID of a running unit; fails at once if the array has ended."""
        running = []
        def running_or_over():
            running[:] = self.processes("reweave " + pattern)
            return running or not self.tasks()
        self.cluster.wait_for(running_or_over, "a unit")
        self.assertTrue(running, f"the units ended before they could be killed: {RUNS} runs are too few here")
        return running[0]

    def submit(self, campaign):
        script, _ = self.reweave("campaign", "sbatch", campaign, "--time", "10")
        path = self.folder / "array.sh"
        path.write_text(script)
        return self.cluster.ask("sbatch", "--parsable", str(path)).strip()

    def tasks(self):
        return self.cluster.ask("squeue", "-h", "-r", "-o", "%i %t").split("\n")[:-1]

    def settle(self):
        """Waits until no task is left. After a node's failure Slurm delays tasks by two minutes; this starts them at
        once."""
        def is_done():
            tasks = self.tasks()
            for task in tasks:
                name, state = task.split()
                if state == "PD" and re.fullmatch(r"\d+_\d+", name):
                    self.cluster.ask("scontrol", "update", f"JobId={name}", "StartTime=now", check=False)
            return not tasks
        self.cluster.wait_for(is_done, "the end of the array", 500)

    def test_killed_units_and_a_killed_node(self):
        recording = self.recorded("bank_account")
        quiet = self.new("quiet", recording, units=UNITS, runs=RUNS)
        disturbed = self.new("disturbed", recording, units=UNITS, runs=RUNS)
        self.cluster.start_all()
        self.submit(disturbed)
        pattern = f"explore --campaign {disturbed} --unit"
        for _ in range(3):
            self.wait_for_unit(pattern)
            time.sleep(0.3)
            os.kill(self.wait_for_unit(pattern), signal.SIGKILL)
        self.wait_for_unit(pattern)
        for pid in [self.cluster.processes["slurmd"].pid, *self.processes("^slurmstepd: .*"), *self.processes(pattern)]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.cluster.processes["slurmd"].wait()
        status, _ = self.reweave("campaign", "status", disturbed, env=self.cluster.environment)
        self.assertRegex(status, r"Slurm: \d+ tasks run, \d+ wait")
        self.cluster.start_node()
        self.settle()
        restarted = self.published(disturbed)
        # Slurm does not requeue units that were killed alone. Submitting the same script again runs the missing ones.
        self.submit(disturbed)
        self.settle()
        self.assertEqual(len(self.published(disturbed)), UNITS, self.cluster.logs())
        self.assertLess(len(restarted), UNITS)
        self.reweave("campaign", "run", quiet, "--jobs", "2")
        self.assertEqual(self.published(quiet), self.published(disturbed))
        self.assertEqual(self.merged(quiet), self.merged(disturbed))


if __name__ == "__main__":
    if why := slurm_cluster.missing():
        print(f"skipped: {why}")
        sys.exit(SKIPPED)
    UnderSlurm.main()
