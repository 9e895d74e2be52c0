#!/usr/bin/env python3
"""Behaviour that all verbs share: --quiet, --verbose, --color and NO_COLOR, progress on a terminal only, JSON reports."""
import json
import os
import pathlib
import pty
import subprocess
import tempfile

from scratch_case import ScratchCase

FAILURE_FOUND = 10
LIMIT_SECONDS = 600
ROOT = pathlib.Path(__file__).resolve().parents[2]
VERBS = ["record", "replay", "dump", "traceinfo", "ps", "trace", "pack", "predict", "explore", "explain", "hunt", "doctor",
         "campaign", "dap", "query", "suspects"]
ESCAPE, ERASE_LINE = "\033[", "\r\033[K"
# The members that docs/explore-format.md describes.
EXPLORE_MEMBERS = {
    "format": str, "version": int, "reweave": str, "status": int, "recording": str, "output": str, "strategy": str,
    "seed": int, "runs": int, "examined": int, "failed": int, "left_recording": int, "not_kept": int, "unfaithful": int,
    "not_held": int, "seconds": float, "accesses": bool, "interrupted": int, "out_of_time": bool, "gave_up": bool,
    "one_schedule": bool, "left_for": list, "not_kept_for": list, "summary": list, "candidates": list, "failures": list,
    "suspected": list}
FAILURE_MEMBERS = {
    "recording": str, "reproduced": bool, "what": str, "functions": str, "how": str, "run": int, "preemptions": int,
    "runs_like_this": int, "minimal": bool, "replays": int, "verified": int, "last_words": str, "cause": str, "story": str,
    "ending": str, "stacks": str}


class Manners(ScratchCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory(prefix="reweave-check-")
        kept = pathlib.Path(cls.kept.name)
        program = kept / "bank_account"
        subprocess.run(["cc", "-g", "-O1", "-fsanitize=thread", "-pthread", ROOT / "tests/programs/bank_account.c", "-o",
                        program], check=True, timeout=LIMIT_SECONDS)
        cls.recorded, cls.program = kept / "recorded", program
        subprocess.run([cls.build / "reweave", "record", "--seed", "1", "-o", cls.recorded, "--", program], check=True,
                       capture_output=True, timeout=LIMIT_SECONDS)

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def reweave(self, *arguments, status=0, **environment):
        """Runs a command without a terminal. Returns its standard output and standard error."""
        done = subprocess.run([self.build / "reweave", *arguments], capture_output=True, text=True, timeout=LIMIT_SECONDS,
                              env={**os.environ, **environment}, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout, done.stderr

    def on_terminal(self, *arguments, status=0, **environment):
        """Runs a command on a terminal. Returns what the terminal shows: standard output and error together."""
        try:
            master, terminal = pty.openpty()
        except OSError as error:
            self.skipTest(f"there is no pseudo-terminal: {error}")
        environment = {**os.environ, "TERM": "xterm", **environment}
        with subprocess.Popen([self.build / "reweave", *arguments], stdin=terminal, stdout=terminal, stderr=terminal,
                              env=environment) as process:
            os.close(terminal)
            shown = b""
            try:
                while part := os.read(master, 65536):
                    shown += part
            except OSError:
                pass  # EIO: no process has the terminal open any more
            self.assertEqual(process.wait(LIMIT_SECONDS), status, shown)
        os.close(master)
        return shown.decode()

    def explore(self, *options):
        return ["explore", self.recorded, "-o", self.folder / "found", "--runs", "50", "--first", *options]

    def check_members(self, report, members):
        self.assertEqual(set(report), set(members))
        for name, kind in members.items():
            self.assertIs(type(report[name]), kind, name)

    def test_every_verb_has_the_options(self):
        for verb in VERBS:
            text, _ = self.reweave(verb, "--help")
            for option in ("-q,--quiet", "-v,--verbose", "--color"):
                self.assertIn(option, text, verb)
            self.assertIn("--color", self.reweave(verb, "--color", "green", status=2)[1])

    def test_help_as_a_verb(self):
        self.assertEqual(self.reweave("help"), self.reweave("--help"))
        self.assertEqual(self.reweave("help", "hunt"), self.reweave("hunt", "--help"))
        self.assertIn("reweave record -- ./program", self.reweave("./program", status=2)[1])

    def test_quiet_actions_of_campaign(self):
        self.reweave("campaign", "new", self.folder / "campaign", self.recorded, "--runs", "5", "-q")
        self.reweave("campaign", "status", "-q", self.folder / "campaign")

    def test_options_behind_the_command_are_its_own(self):
        output, errors = self.reweave("record", "-o", self.recording, "--", "/bin/echo", "-q", "-v", "--color", "always")
        self.assertEqual((output, errors), ("-q -v --color always\n", ""))

    def test_colors(self):
        doctor, verdict = ["doctor", self.program], "ok"
        plain, _ = self.reweave(*doctor)
        self.assertIn(verdict, plain)
        self.assertNotIn(ESCAPE, plain)
        colored, _ = self.reweave(*doctor, "--color", "always", NO_COLOR="1")
        self.assertIn(ESCAPE, colored)
        self.assertIn(ESCAPE, self.on_terminal(*doctor))
        self.assertIn(ESCAPE, self.on_terminal(*doctor, NO_COLOR=""))
        self.assertNotIn(ESCAPE, self.on_terminal(*doctor, NO_COLOR="1"))
        self.assertNotIn(ESCAPE, self.on_terminal(*doctor, TERM="dumb"))
        self.assertNotIn(ESCAPE, self.on_terminal(*doctor, "--color", "never"))

    def test_colors_of_reports_are_all_that_differs(self):
        for command in (["predict", self.recorded], ["doctor", self.program]):
            plain, _ = self.reweave(*command)
            colored, _ = self.reweave(*command, "--color", "always")
            self.assertIn(ESCAPE, colored, command)
            for code in ("0", "1", "31", "32", "33", "1;31"):
                colored = colored.replace(f"{ESCAPE}{code}m", "")
            self.assertEqual(plain, colored)

    def test_progress_is_for_terminals(self):
        self.assertIn(ERASE_LINE, self.on_terminal(*self.explore(), status=FAILURE_FOUND))

    def test_no_progress_when_quiet(self):
        self.assertNotIn(ERASE_LINE, self.on_terminal(*self.explore("-q"), status=FAILURE_FOUND))

    def test_no_progress_in_logs(self):
        output, errors = self.reweave(*self.explore(), status=FAILURE_FOUND)
        self.assertEqual(errors, "")
        self.assertNotIn("\r", output)

    def test_notices(self):
        again = ["record", "-o", self.recording, "--until-fail", "1", "--", "/bin/true"]
        self.assertIn("1 run passed", self.reweave(*again)[1])
        self.recording = self.folder / "quiet"
        again[2] = self.recording
        self.assertEqual(self.reweave(again[0], "--quiet", *again[1:]), ("", ""))

    def test_verbose(self):
        _, errors = self.reweave("record", "-v", "-o", self.recording, "--", "/bin/true")
        self.assertIn(f"the recording is {self.recording}\n", errors)
        self.assertRegex(errors, r"reweave: record: \d+\.\d\d s, \d+\.\d\d s of processor time, at most \d+ MB in one")

    def test_quiet_errors_are_still_said(self):
        output, errors = self.reweave("dump", "-q", self.folder / "none", status=2)
        self.assertEqual((output, errors.count("\n")), ("", 1), errors)

    def test_explore_json(self):
        output, _ = self.reweave(*self.explore("--json"), status=FAILURE_FOUND)
        report = json.loads(output)
        self.check_members(report, EXPLORE_MEMBERS)
        self.assertEqual((report["format"], report["version"], report["status"]), ("reweave-explore", 1, FAILURE_FOUND))
        self.assertEqual(report["examined"], report["runs"] - report["left_recording"] - report["not_kept"] -
                         report["unfaithful"] - report["not_held"])
        self.assertTrue(report["failures"])
        for failure in report["failures"]:
            self.check_members(failure, FAILURE_MEMBERS)
            self.assertTrue((pathlib.Path(failure["recording"]) / "manifest").exists())

    def test_explore_json_without_a_failure(self):
        report = json.loads(self.reweave("explore", self.recorded, "-o", self.folder / "found", "--runs", "0", "--strategy",
                                         "witness", "--json", status=11)[0])
        self.assertEqual((report["runs"], report["failures"], report["status"]), (0, [], 11))

    def test_ps_json(self):
        self.reweave("record", "-o", self.recording, "--", "/bin/sh", "-c", "/bin/sh -c 'kill -9 $$'; exit 3", status=3)
        report = json.loads(self.reweave("ps", "--json", self.recording)[0])
        self.assertEqual((report["format"], report["version"]), ("reweave-processes", 1))
        shell, child = report["processes"]
        self.assertEqual((shell["status"], shell["signal"], shell["parent"]), (3, None, 0))
        self.assertEqual((child["status"], child["signal"], child["parent"]), (None, 9, shell["pid"]))

    def test_predict_json(self):
        self.assertEqual(self.reweave("predict", self.recorded, "--json")[0],
                         self.reweave("predict", self.recorded, "--format", "json")[0])


if __name__ == "__main__":
    Manners.main()
