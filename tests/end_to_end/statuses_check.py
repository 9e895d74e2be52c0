#!/usr/bin/env python3
"""Exit statuses and messages: every verb with every kind of bad input, and outputs that cannot be written. README's table
of statuses agrees with --help."""
import pathlib
import re
import shutil
import subprocess
import tempfile

from scratch_case import ScratchCase

BAD_INPUT, SYSTEM, TRUNCATED, FAILURE_FOUND = 2, 4, 6, 10
LIMIT_SECONDS = 600
ROOT = pathlib.Path(__file__).resolve().parents[2]
VERBS = ["record", "replay", "dump", "traceinfo", "ps", "trace", "pack", "predict", "explore", "explain", "hunt", "doctor",
         "campaign", "dap", "query", "suspects"]
# Takes so long that the supervisor writes several blocks of events, so that a recording can be cut between them.
SLOW = "for i in 1 2 3; do echo $i; sleep 0.5; done"


class Statuses(ScratchCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory(prefix="reweave-check-")
        kept = pathlib.Path(cls.kept.name)
        cls.good, cls.trace, cls.text = kept / "good", kept / "good.rwt", kept / "text.std"
        cls.text.write_text("T1|w(x)|1\nT2|w(x)|2\n")
        program = kept / "bank_account"
        subprocess.run(["cc", "-g", "-O1", "-fsanitize=thread", "-pthread", ROOT / "tests/programs/bank_account.c", "-o",
                        program], check=True, timeout=LIMIT_SECONDS)
        cls.traced = kept / "traced"
        for arguments in (["record", "-o", cls.good, "--", "/bin/sh", "-c", SLOW],
                          ["record", "--seed", "1", "-o", cls.traced, "--", program],
                          ["trace", cls.traced, "-o", cls.trace]):
            subprocess.run([cls.build / "reweave", *arguments], check=True, capture_output=True, timeout=LIMIT_SECONDS)

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def reweave(self, *arguments, stdout=subprocess.PIPE, env=None):
        """Returns exit status, standard output and standard error."""
        done = subprocess.run([self.build / "reweave", *arguments], stdin=subprocess.DEVNULL, stdout=stdout,
                              stderr=subprocess.PIPE, timeout=LIMIT_SECONDS, check=False, env=env)
        return done.returncode, (done.stdout or b"").decode(), done.stderr.decode(errors="replace")

    def check(self, arguments, status, words="", lines=1):
        with self.subTest(arguments=[str(a) for a in arguments]):
            found, output, errors = self.reweave(*arguments)
            self.assertEqual(found, status, (output, errors))
            self.assertIn(words, errors)
            self.assertEqual(errors.count("\n"), lines, errors)
            self.assertTrue(errors.startswith("reweave: "), errors)
            return output

    def of_recording(self, recording):
        """Returns a command line for each verb that takes a recording. Empties the folder for their output."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        return [["dump", recording], ["traceinfo", recording], ["ps", recording], ["replay", recording],
                ["replay", "-g", "end", recording, "--gdb-batch", "bt"], ["trace", recording, "-o", out / "trace"],
                ["trace", recording, "--export=std", "-o", out / "text"], ["pack", recording],
                ["predict", recording], ["predict", recording, "--analysis=hb"], ["query", recording, "switches"],
                ["explore", recording, "--runs", "1", "-o", out / "found"],
                ["explain", recording, "--expect-status", "255", "--seconds", "2"]]

    def of_trace(self, trace):
        return [["dump", trace], ["traceinfo", trace], ["predict", trace], ["predict", "--analysis=hb", trace],
                ["trace", trace, "--export=std", "-o", self.folder / "out.std"]]

    def copy(self, source):
        shutil.rmtree(self.recording, ignore_errors=True)
        shutil.copytree(source, self.recording)
        return self.recording

    def test_what_is_no_recording(self):
        missing, empty, text = self.folder / "missing", self.folder / "empty", self.folder / "text"
        empty.mkdir()
        text.write_text("hello\n")
        for path in (missing, empty, text):
            for command in self.of_recording(path):
                self.check(command, BAD_INPUT, str(path))
        for path in (missing, text, pathlib.Path("/dev/null")):
            for command in self.of_trace(path):
                self.check(command, BAD_INPUT, str(path))
            self.check(["explore", self.traced, "--candidates", path, "-o", self.folder / "found"], BAD_INPUT, str(path))

    def test_no_recording_at_all(self):
        env = {"REWEAVE_DIR": str(self.folder / "none"), "PATH": "/usr/bin:/bin"}
        for verb in ("dump", "traceinfo", "ps", "replay", "trace", "pack", "predict", "explore", "explain"):
            status, _, errors = self.reweave(verb, env=env)
            self.assertEqual((status, errors.count("\n")), (BAD_INPUT, 1), errors)

    def test_damaged_recordings(self):
        for member in ("manifest", "events"):
            for place in (0, 8, 20, 40, 100):  # magic, version, header and payload of the first block
                recording = self.copy(self.good)
                damaged = bytearray((recording / member).read_bytes())
                damaged[place] ^= 0x55
                (recording / member).write_bytes(damaged)
                for command in (["dump", recording], ["replay", recording], ["trace", recording, "-o", self.folder / "t"]):
                    self.check(command, BAD_INPUT, member)
                    (self.folder / "t").unlink(missing_ok=True)

    def test_cut_recordings(self):
        """Every verb exits with 6 if any file of the recording is cut at any place, and no output calls it complete."""
        events = (self.good / "events").stat().st_size
        places = {"events": [20, events // 3, events // 2, events - 1], "manifest": [20, 100]}
        for member, lengths in places.items():
            for length in lengths:
                recording = self.copy(self.good)
                with (recording / member).open("r+b") as file:
                    file.truncate(length)
                for command in self.of_recording(recording):
                    if "--gdb-batch" in command and member == "events":
                        continue  # gdb decides the status
                    with self.subTest(member=member, length=length, command=command[0]):
                        status, output, errors = self.reweave(*command)
                        self.assertEqual(status, TRUNCATED, (output, errors))
                        self.assertTrue(errors.startswith("reweave: "), errors)
                        if command[0] == "traceinfo" and member == "events":
                            self.assertIn('"complete": false', output)
                            self.assertIn('"damage": ', output)

    def test_a_trace_of_a_cut_recording_is_cut(self):
        recording, trace = self.copy(self.traced), self.folder / "cut.rwt"
        with (recording / "events").open("r+b") as file:
            file.truncate((self.traced / "events").stat().st_size - 1)
        self.check(["trace", recording, "-o", trace], TRUNCATED, "incomplete")
        self.assertEqual(self.reweave("predict", trace)[0], TRUNCATED)

    def test_cut_traces(self):
        whole = self.trace.read_bytes()
        cut = self.folder / "cut.rwt"
        for length in (len(whole) - 1, len(whole) * 2 // 3, len(whole) // 3):
            cut.write_bytes(whole[:length])
            for command in self.of_trace(cut):
                with self.subTest(length=length, command=command):
                    status, _, errors = self.reweave(*command)
                    self.assertEqual(status, TRUNCATED, errors)
                    self.assertTrue(errors.startswith("reweave: "), errors)
        cut.write_bytes(whole[:-1])
        self.assertIn("only the first ", self.reweave("predict", cut)[1])
        for options in ([], ["--analysis=hb"]):
            output = self.reweave("predict", cut, "--format=json", *options)[1]
            self.assertIn('"complete": false', output)
            self.assertIn('"damage": ', output)
            self.assertIn('"executionSuccessful": false', self.reweave("predict", cut, "--format=sarif", *options)[1])
            self.assertIn('"complete": true', self.reweave("predict", self.trace, "--format=json", *options)[1])
        damaged = bytearray(whole)
        damaged[len(whole) // 3] ^= 0x55
        cut.write_bytes(damaged)
        for command in self.of_trace(cut):
            if command[0] != "traceinfo":  # traceinfo does not read the events
                self.assertEqual(self.reweave(*command)[0], BAD_INPUT, command)

    def test_texts_of_no_run(self):
        text = self.folder / "text.std"
        for content, words in (("", "line 1: the text ends without an event"), ("\n\n", "without an event"),
                               ("T1|acq(l)|1\nT2|acq(l)|2\n",
                                "line 2: thread T2 takes 'l', which thread T1 has held since line 1"),
                               ("T1|join(T2)|1\nT1|w(x)|2\nT2|w(x)|3\n", "line 3: thread T2 continues after it was joined in line 1"),
                               ("T1|join(T1)|1\n", "line 1: thread T1 joins itself"),
                               ("T1|wait(c,m)|1\nT2|acq(m)|2\nT1|woken(c,m)|3\n", "line 3: thread T1 takes"),
                               ("T1|w(x)|1\nT1|what(x)|2\n", "line 2: unknown operation"),
                               ("x" * (2 << 20), "line 1: longer than")):
            text.write_text(content)
            for options in ([], ["--analysis=hb"]):
                self.check(["predict", text, *options], BAD_INPUT, words)
        for content in ("T1|acq(l)|1\nT1|acq(l)|2\nT1|rel(l)|3\nT1|rel(l)|4\nT2|acq(l)|5\n",  # recursive
                        "T1|rel(l)|1\nT2|acq(l)|2\n",  # begins in the middle
                        "T1|acqs(l)|1\nT2|acqs(l)|2\n",
                        "T1|acq(l)|1\nT2|rel(l)|2\nT3|acq(l)|3\n",
                        "T1|acq(l)|1\nT1|end|2\nT2|acq(l)|3\n",  # robust
                        "T1|wait(c,m)|1\nT2|acq(m)|2\nT2|rel(m)|3\nT1|woken(c,m)|4\n"):
            text.write_text(content)
            status, _, errors = self.reweave("predict", text)
            self.assertEqual((status, errors), (0, ""), content)

    def test_names_that_are_mistyped(self):
        self.check(["recrod", "-o", "x"], BAD_INPUT, "there is no verb 'recrod'; did you mean record?")
        self.check(["xyzzy"], BAD_INPUT, "there is no verb 'xyzzy'; the verbs are hunt, record, replay, ")
        self.check([], BAD_INPUT, "--help")
        for verb, given, meant in (("record", "--choas", "--chaos"), ("record", "--sead=1", "--seed"),
                                   ("replay", "--chek", "--check"), ("explore", "--strategie", "--strategy"),
                                   ("predict", "--explian", "--explain"), ("dump", "--frist", "--first"),
                                   ("trace", "--exprot=std", "--export"), ("pack", "--debugifno", "--debuginfo")):
            self.check([verb, given], BAD_INPUT, f"there is no option '{given.split('=')[0]}'; did you mean {meant}?")
        for verb in VERBS:
            self.check([verb, "--xyzzyplugh"], BAD_INPUT, "there is no option '--xyzzyplugh'\n")

    def test_ranges_of_numbers(self):
        program = ["--", "/bin/true"]
        for option, values in {"--seed": ["-1", "1.5", "x", "99999999999999999999"], "--until-fail": ["0", "-1", "x"],
                               "--max-size": ["-5", "0", "x", "5XB", "-5MB"], "--keep": ["none"],
                               "--processor": ["z80"]}.items():
            for value in values:
                self.check(["record", "-o", self.recording, f"{option}={value}", *program], BAD_INPUT, option)
                self.assertFalse(self.recording.exists())
        for option, values in {"--runs": ["-1", "x"], "--seconds": ["-1", "nan", "x"], "--seed": ["-1"], "--jobs": ["0", "65", "-1"],
                               "--depth": ["0", "-1"], "--verify": ["-1"], "--minimise": ["-1"]}.items():
            for value in values:
                self.check(["explore", self.traced, "-o", self.folder / "found", f"{option}={value}"], BAD_INPUT, option)
        for option, values in {"--seconds": ["-1", "nan", "x"], "--jobs": ["0", "65", "-1"]}.items():
            for value in values:
                self.check(["explain", self.traced, f"{option}={value}"], BAD_INPUT, option)
        for option, values in {"--explain": ["0", "-1", "x"], "--budget": ["-1", "nan", "x"], "--format": ["xml"],
                               "--analysis": ["none"]}.items():
            for value in values:
                self.check(["predict", self.text, f"{option}={value}"], BAD_INPUT, value)
        for option in ("--first", "--end", "--thread"):
            for value in ("-1", "x", "99999999999999999999"):
                self.check(["dump", self.good, f"{option}={value}"], BAD_INPUT, option)
        for value in ("-1", "0", "x"):
            self.check(["replay", self.good, f"--pid={value}"], BAD_INPUT, "--pid")
        self.check(["predict", self.text, "--explain=7"], BAD_INPUT, "--explain 7")

    def test_dump_of_what_is_not_there(self):
        for path in (self.good, self.trace):
            self.check(["dump", path, "--thread=77"], BAD_INPUT, "has no thread 77")
            self.check(["dump", path, "--first=99999999"], BAD_INPUT, "has only ")
            self.check(["dump", path, "--first=5", "--end=5"], BAD_INPUT, "leaves nothing to show")
            status, output, errors = self.reweave("dump", path, "--thread=0", "--first=2", "--end=4")
            self.assertEqual((status, errors), (0, ""))
            self.assertRegex(output, r"\A(2 .*\n)?(3 .*\n)?\Z")

    def test_outputs_that_cannot_be_written(self):
        (self.folder / "file").write_text("")
        for place in (self.folder / "none" / "x", self.folder / "file" / "x", pathlib.Path("/proc/x")):
            for command in (["record", "-o", place, "--", "/bin/true"], ["trace", self.traced, "-o", place],
                            ["trace", self.trace, "--export=std", "-o", place], ["predict", self.text, "-o", place]):
                self.check(command, BAD_INPUT, str(place.parent))
        self.check(["explore", self.traced, "--runs", "1", "-o", "/proc/x"], BAD_INPUT, "/proc/x")
        self.check(["predict", self.text, "-o", self.folder], BAD_INPUT, "is a folder")
        for command in (["record", "-o", self.good, "--", "/bin/true"], ["trace", self.traced, "-o", self.trace],
                        ["explore", self.traced, "-o", self.good]):
            self.check(command, BAD_INPUT, "exists already")

    def test_a_full_standard_output(self):
        for command in (["dump", self.good], ["dump", self.trace], ["traceinfo", self.good], ["ps", self.good],
                        ["predict", self.text], ["predict", self.text, "--format=json"],
                        ["predict", self.text, "--analysis=hb"], ["pack", self.copy(self.good)],
                        ["trace", self.trace, "--export=std", "-o", self.folder / "out.std"],
                        ["explore", "--strategy=help"], ["--help"], ["record", "--help"], ["--version"]):
            with self.subTest(command=command), open("/dev/full", "wb") as full:
                status, _, errors = self.reweave(*command, stdout=full)
                self.assertEqual((status, errors.count("\n")), (SYSTEM, 1), errors)
                self.assertRegex(errors, "No space left on device|the standard output cannot be written")

    def test_the_table(self):
        """README's table has the same statuses and texts as --help."""
        told = dict(re.findall(r"^  (\d+) +(\S.*)$", self.reweave("--help")[1], re.MULTILINE))
        self.assertEqual(len(told), 12)
        table = (ROOT / "README.md").read_text().partition("## Exit statuses")[2].partition("\n## ")[0]
        written = dict(re.findall(r"^\| (\d+) \| (.*) \|$", table, re.MULTILINE))
        self.assertEqual({status: text.replace("`", "") for status, text in written.items()}, told)


if __name__ == "__main__":
    Statuses.main()
