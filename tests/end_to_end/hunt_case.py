"""The common parts of the checks of the verb hunt."""
import json
import pathlib
import subprocess
import xml.etree.ElementTree

from scratch_case import ScratchCase

LIMIT = 1200  # seconds
ROOT = pathlib.Path(__file__).resolve().parents[2]
BAD_INPUT, FAILURE_FOUND = 2, 10


class HuntCase(ScratchCase):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"

    def bank_account(self):
        return self.compiled("bank_account", (ROOT / "tests/programs/bank_account.c").read_text(), "-g", "-O1",
                             "-fsanitize=thread", "-pthread")

    def hunt(self, *arguments, status, folder=None):
        """Runs a hunt that must end with `status`. Returns its standard output and standard error."""
        return self.reweave("hunt", *arguments, status=status, folder=folder)

    def reweave(self, *arguments, status=0, folder=None):
        """The same for any verb."""
        done = subprocess.run([self.build / "reweave", *arguments], cwd=folder or self.folder,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
        output, errors = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, status, output + errors)
        return output, errors

    def kept(self, folder=None):
        """Returns the content of hunt.json. Checks that the other reports are well-formed and agree with it."""
        folder = folder or self.out
        told = json.loads((folder / "hunt.json").read_text())
        self.assertEqual((told["format"], told["version"]), ("reweave-hunt", 1))
        junit = xml.etree.ElementTree.parse(folder / "junit.xml").getroot()
        cases = junit.findall(".//testcase")
        found = [sum(failure["reproduced"] for failure in target["failures"]) for target in told["targets"]]
        self.assertEqual([len(case.findall("failure")) for case in cases], found)
        sarif = json.loads((folder / "report.sarif").read_text())
        self.assertEqual(sarif["version"], "2.1.0")
        self.assertEqual(len(sarif["runs"][0]["results"]), sum(found))
        quality = json.loads((folder / "quality.json").read_text())
        placed = [failure for target in told["targets"] for failure in target["failures"]
                  if failure["reproduced"] and failure["file"]]
        self.assertEqual([(entry["location"]["path"], entry["location"]["lines"]["begin"]) for entry in quality],
                         [(failure["file"], failure["line"]) for failure in placed])
        explained = [failure for target in told["targets"] for failure in target["failures"]
                     if failure["reproduced"] and failure["flows"]]
        flows = [result["codeFlows"] for result in sarif["runs"][0]["results"] if "codeFlows" in result]
        self.assertEqual(flows, [failure["flows"] for failure in explained])
        self.assertTrue((folder / "summary.md").read_text().startswith("## reweave hunt: "))
        self.assertEqual(folder.stat().st_mode & 0o777, 0o700)
        return told

    def replayed(self, command):
        """Replays the recording that `command`, as printed for the user, names. Returns the exit status."""
        words = command.split()
        self.assertEqual(words[:4], ["reweave", "replay", "-g", "end"])
        return subprocess.run([self.build / "reweave", "replay", self.folder / words[4]], capture_output=True,
                              timeout=LIMIT).returncode
