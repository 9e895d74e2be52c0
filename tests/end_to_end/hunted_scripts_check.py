#!/usr/bin/env python3
"""The verb hunt on a script that runs a program."""
import json
import pathlib
import subprocess

from hunt_case import FAILURE_FOUND, LIMIT, HuntCase


class HuntedScripts(HuntCase):
    def asked(self, *arguments):
        """Runs a verb that must succeed. Returns its standard output."""
        return subprocess.run([self.build / "reweave", *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=True, timeout=LIMIT).stdout

    def test_a_program_that_a_script_runs(self):
        """The program's code and variables have names. After a run that passes, the script continues."""
        self.bank_account()
        script = self.folder / "run.sh"
        script.write_text("#!/bin/sh\nset -e\n./bank_account\necho done\n")
        script.chmod(0o755)
        output, _ = self.hunt("-o", self.out, "--", "./run.sh", status=FAILURE_FOUND)
        self.assertRegex(output, r"The cause: thread \d+ writes balance in deposit \(.*:\d+\), after ")
        self.assertNotRegex(output, "0x[0-9a-f]{6}")
        shown = subprocess.run([self.build / "reweave", "replay", "-g", "end", "--backward", self.out / "failure-1",
                                "--gdb-batch", "bt"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                               timeout=LIMIT).stdout
        self.assertRegex(shown, r" in audit \(\) at .*:\d+\n")
        told = json.loads(self.asked("query", self.out / "failure-1", "who-wrote", "balance"))
        self.assertEqual([frame["function"] for frame in told["stack"]][:1], ["deposit"])
        listed = [line.split()[2:] for line in self.asked("ps", self.out / "failure-1").splitlines()[1:]]
        self.assertEqual([pathlib.Path(program).name for _, program in listed][1:], ["bank_account"])
        self.assertEqual([end for end, _ in listed], ["134", "SIGABRT"])
        passing = self.folder / "passing"
        subprocess.run([self.build / "reweave", "record", "-o", passing, "--", "sh", "-c", "./bank_account; true"],
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True, timeout=LIMIT)
        done = subprocess.run([self.build / "reweave", "query", passing, "who-wrote", "balance"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT)
        self.assertRegex(done.stderr, r"sh\) was asked, -p chooses another one that `reweave ps` lists\n\Z")


if __name__ == "__main__":
    HuntedScripts.main()
