#!/usr/bin/env python3
"""The verb hunt: its findings, the files in its folder, how it continues, and its message if it finds nothing."""
import json
import re
import shutil
import signal
import subprocess
import time
import xml.etree.ElementTree

from hunt_case import BAD_INPUT, FAILURE_FOUND, LIMIT, HuntCase

NOT_EXAMINED, INTERRUPTED = 11, 130
HOSTILE = ["a]]>&<b>\"'", "`c` | *d* ``` @e <script>", "\x1b[31m\n\xff$(id)"]


class Hunts(HuntCase):
    def quiet(self):
        """Compiles a correct program with more than one schedule."""
        return self.compiled("quiet", "#include <pthread.h>\nstatic void *work(void *p) { return p; }\n"
                             "int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); return 0; }",
                             "-pthread")

    def test_the_bank_account(self):
        output, _ = self.hunt("--", self.bank_account(), status=FAILURE_FOUND)
        folder = self.folder / "reweave-hunt-bank_account-1"
        told = self.kept(folder)
        [target] = told["targets"]
        [failure] = target["failures"]
        self.assertEqual((told["status"], target["passing"], failure["recording"]), (10, "passing", "failure-1"))
        self.assertIn("Assertion", failure["last_words"])
        self.assertIn(f"{folder.name}/failure-1/report.html in a browser, or\n  reweave explain {folder.name}/failure-1\n", output)
        story = (folder / "failure-1" / "story.txt").read_text()
        self.assertIn(failure["story"], story)
        self.assertIn(failure["cause"], story)
        self.assertIn(failure["cause"], output)
        self.assertEqual(self.replayed(output.splitlines()[-1]), 134)
        threads = failure["flows"][0]["threadFlows"]
        self.assertEqual([flow["id"] for flow in threads], ["thread 1", "thread 2"])
        self.assertIn("balance", threads[0]["locations"][0]["location"]["message"]["text"])
        junit = xml.etree.ElementTree.parse(folder / "junit.xml").getroot().find(".//failure")
        self.assertIn("killed by signal 6", junit.get("message"))
        self.assertEqual(self.replayed(junit.text.strip().splitlines()[-1]), 134)
        self.assertIn(output.splitlines()[-1].strip(), (folder / "summary.md").read_text())
        self.assertEqual(sorted(path.name for path in folder.iterdir()),
                         ["failure-1", "hunt.json", "junit.xml", "output.txt", "passing", "quality.json", "report.sarif",
                          "summary.md"])
        self.check_that_the_folder_stands_for_its_failure(folder)

    def check_that_the_folder_stands_for_its_failure(self, folder):
        def replay():
            return subprocess.run([self.build / "reweave", "replay", folder], capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(replay().returncode, 134)
        shutil.copytree(folder / "failure-1", folder / "failure-2", symlinks=True)
        done = replay()
        self.assertEqual(done.returncode, BAD_INPUT, done.stderr)
        self.assertIn(f"name one: {folder}/failure-1, {folder}/failure-2", done.stderr)

    def test_it_continues(self):
        program = self.bank_account()
        self.hunt("--", program, status=FAILURE_FOUND)
        folder = self.folder / "reweave-hunt-bank_account-1"
        passing = (folder / "passing" / "events").stat()
        output, errors = self.hunt("--", program, status=FAILURE_FOUND)
        self.assertIn("continuing reweave-hunt-bank_account-1", errors)
        [target] = self.kept(folder)["targets"]
        self.assertEqual([search["seed"] for search in target["searches"]], [1, 2])
        self.assertEqual(target["recorded"], 1)
        self.assertEqual((folder / "passing" / "events").stat(), passing)
        self.assertEqual([path.name for path in self.folder.glob("reweave-hunt-*")], [folder.name])

    def test_a_changed_program_has_a_new_hunt(self):
        for text in ("int main(void) { return 0; }", "int x; int main(void) { return x; }"):
            program = self.compiled("program", text)
            self.hunt("--runs", "2", "--", program, status=0)
        self.assertTrue((self.folder / "reweave-hunt-program-2" / "passing").is_dir())
        _, errors = self.hunt("-o", "reweave-hunt-program-1", "--", program, status=BAD_INPUT)
        self.assertRegex(errors, r"\Areweave: .*before it changed.*\n\Z")

    def test_folders_of_others_are_refused(self):
        self.hunt("-o", self.out, "--runs", "2", "--", "/bin/true", status=0)
        (self.folder / "empty").mkdir()
        (self.folder / "file").write_text("")
        for folder, command in ((self.out, ["/bin/true", "x"]), (self.out, ["/bin/echo"]), (self.folder / "empty", ["/bin/true"]),
                                (self.folder / "file", ["/bin/true"])):
            _, errors = self.hunt("-o", folder, "--", *command, status=BAD_INPUT)
            self.assertRegex(errors, r"\Areweave: .*\n\Z")
        (self.out / "hunt.json").write_text("{}")
        _, errors = self.hunt("-o", self.out, "--", "/bin/true", status=BAD_INPUT)
        self.assertRegex(errors, r"\Areweave: .*hunt.json is damaged.*\n\Z")

    def test_it_fails_at_once(self):
        output, errors = self.hunt("-o", self.out, "--", "/bin/sh", "-c", "echo the words; exit 3", status=FAILURE_FOUND)
        self.assertIn("without any search: exit status 3", errors)
        [target] = self.kept()["targets"]
        self.assertEqual((target["passing"], target["searches"], target["failures"][0]["last_words"]),
                         (None, [], "the words"))
        self.assertEqual(self.replayed(output.splitlines()[-1]), 3)
        output, _ = self.hunt("--runs", "2", "--expect-status", "3", "--", "/bin/sh", "-c", "exit 3", status=0)
        self.assertIn("no failure found", output)

    def test_nothing_found_is_not_all_clean(self):
        output, _ = self.hunt("-o", self.out, "--runs", "20", "--", self.quiet(), status=0)
        self.assertIn("does not prove that there is none", output)
        self.assertIn("20 runs in ", output)
        self.assertIn("-fsanitize=thread", output)
        self.assertRegex(output.splitlines()[-1], r"^  reweave hunt -o \S+ -- \S+/quiet$")
        self.kept()

    def test_what_it_says_of_the_command(self):
        program = self.compiled("plain", "int main(void) { return 0; }\n")
        output, errors = self.hunt("-o", self.out, "--runs", "2", "--", program, "--for", "10s", status=0)
        self.assertIn("--for 10s is given to the program", errors)
        self.assertIn("1 run in ", output)
        self.assertIn("one schedule", output)
        self.assertNotIn("what would see more", output)
        self.assertNotIn("-fsanitize=thread", output)
        self.assertIn("no debug information", output)

    def test_what_cannot_be_hunted(self):
        _, errors = self.hunt("-o", self.out, "--", "/no/such/program", status=BAD_INPUT)
        self.assertEqual(errors.count("\n"), 1)
        self.assertFalse(self.out.exists())
        output, _ = self.hunt("-o", self.out, "--for", "1s", "--", "/bin/sleep", "1000", status=NOT_EXAMINED)
        self.assertIn("a program that does not end by itself cannot be hunted", output)
        for option in (["--for", "0"], ["--for", "5x"], ["--for", "-1s"], ["--runs", "0"], ["--expect-status", "x"]):
            _, errors = self.hunt(*option, "--", "/bin/true", status=BAD_INPUT)
            self.assertEqual(errors.count("\n"), 1, errors)

    def test_what_a_search_cannot_follow_is_recorded_unfairly(self):
        output, _ = self.hunt("-o", self.out, "--runs", "3", "--", "/bin/sh", "-c",
                              "(sleep 0.1; kill -CONT $$) & kill -STOP $$; wait", status=0)
        self.assertIn("3 recordings under an unfair scheduler", output)
        self.assertIn("hunt the failing program itself", output)
        self.kept()

    def test_it_is_interrupted(self):
        program = self.quiet()
        hunt = subprocess.Popen([self.build / "reweave", "hunt", "-o", self.out, "--for", "1h", "--", program],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + LIMIT
        while not (self.out / "search").exists() and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.5)
        hunt.send_signal(signal.SIGINT)
        output, _ = hunt.communicate(timeout=LIMIT)
        self.assertEqual(hunt.returncode, INTERRUPTED)
        self.assertIn("interrupted", output)
        told = self.kept()
        self.assertEqual((told["status"], told["interrupted"], len(told["targets"][0]["searches"])), (130, signal.SIGINT, 1))
        self.hunt("-o", self.out, "--runs", "2", "--", program, status=0)
        self.assertEqual(len(self.kept()["targets"][0]["searches"]), 2)

    def test_interrupted_while_it_records(self):
        hunt = subprocess.Popen([self.build / "reweave", "hunt", "-o", self.out, "--", "/bin/sleep", "1000"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + LIMIT
        while not (self.out / "recording" / "events").exists() and time.monotonic() < until:
            time.sleep(0.05)
        hunt.send_signal(signal.SIGTERM)
        hunt.communicate(timeout=LIMIT)
        self.assertEqual(hunt.returncode, 128 + signal.SIGTERM)
        self.assertFalse((self.out / "recording").exists())
        self.kept()

    def test_hostile_arguments(self):
        arguments = [text.encode("latin-1") for text in HOSTILE]
        output, _ = self.hunt("-o", self.out, "--", "/bin/sh", "-c", "printf '%s' \"$@\"; exit 1", "x", *arguments,
                              status=FAILURE_FOUND)
        self.assertNotIn("\x1b", output)
        self.kept()
        summary = (self.out / "summary.md").read_text()
        self.assertNotIn("\x1b", summary)
        outside = re.sub(r"(?ms)^(`{3,})\n.*?^\1$|(`+) .*? \2", "", summary)
        for text in ("<script>", "<b>", " @e"):
            self.assertNotIn(text, outside)
        junit = xml.etree.ElementTree.parse(self.out / "junit.xml").getroot()
        self.assertIn("a]]>&<b>", junit.find(".//testcase").get("name"))
        _, errors = self.hunt("-o", self.out, "--", "/bin/sh", "-c", "printf '%s' \"$@\"; exit 1", "x", *arguments,
                              status=FAILURE_FOUND)
        self.assertIn("continuing", errors)

    def test_json(self):
        output, _ = self.hunt("-o", self.out, "--json", "--runs", "2", "--", "/bin/true", status=0)
        self.assertEqual(json.loads(output), self.kept())


if __name__ == "__main__":
    Hunts.main()
