#!/usr/bin/env python3
"""The verb hunt on a script that runs a program."""
import json
import pathlib

from hunt_case import BAD_INPUT, FAILURE_FOUND, HuntCase


class HuntedScripts(HuntCase):
    def test_a_program_that_a_script_runs(self):
        """The program's code and variables have names. After a run that passes, the script continues."""
        self.bank_account()
        script = self.folder / "run.sh"
        script.write_text("#!/bin/sh\nset -e\n./bank_account\necho done\n")
        script.chmod(0o755)
        output, _ = self.hunt("-o", self.out, "--", "./run.sh", status=FAILURE_FOUND)
        self.assertRegex(output, r"The cause: thread \d+ writes balance in deposit \(.*:\d+\), after ")
        self.assertNotRegex(output, "0x[0-9a-f]{6}")
        failure = self.out / "failure-1"
        shown, _ = self.reweave("replay", "-g", "end", "--backward", failure, "--gdb-batch", "bt")
        self.assertRegex(shown, r" in audit \(\) at .*:\d+\n")
        told = json.loads(self.reweave("query", failure, "who-wrote", "balance")[0])
        self.assertEqual([frame["function"] for frame in told["stack"]][:1], ["deposit"])
        listed = [line.split()[2:] for line in self.reweave("ps", failure)[0].splitlines()[1:]]
        self.assertEqual([pathlib.Path(program).name for _, program in listed][1:], ["bank_account"])
        self.assertEqual([end for end, _ in listed], ["134", "SIGABRT"])

    def test_a_name_that_the_asked_process_lacks(self):
        self.bank_account()
        passing = self.folder / "passing"
        self.reweave("record", "-o", passing, "--", "sh", "-c", "./bank_account; true")
        _, errors = self.reweave("query", passing, "who-wrote", "balance", status=BAD_INPUT)
        self.assertRegex(errors, r"sh\) was asked, -p chooses another one that `reweave ps` lists\n\Z")


if __name__ == "__main__":
    HuntedScripts.main()
