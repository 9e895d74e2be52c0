#!/usr/bin/env python3
"""The verb hunt: its findings, the files in its folder, how it continues, and its message if it finds nothing."""
import json
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree

from scratch_case import ScratchCase

LIMIT = 1200  # seconds
ROOT = pathlib.Path(__file__).resolve().parents[2]
BAD_INPUT, FAILURE_FOUND, NOT_EXAMINED, INTERRUPTED = 2, 10, 11, 130
LOST_UPDATE = """
#include <atomic>
#include <thread>
inline std::atomic<int> balance;
inline void deposit() { int seen = balance; balance = seen + 1; }
inline int both() {
  balance = 0;
  std::thread other(deposit);
  deposit();
  other.join();
  return balance;
}
"""
GOOGLE_TEST = LOST_UPDATE + """
#include <gtest/gtest.h>
TEST(Account, Fails) { FAIL(); }
TEST(Account, BothDeposits) { EXPECT_EQ(both(), 2); }
"""
BOOST_TEST = LOST_UPDATE + """
#define BOOST_TEST_MODULE account
#include <boost/test/included/unit_test.hpp>
BOOST_AUTO_TEST_CASE(fails) { BOOST_TEST(false); }
BOOST_AUTO_TEST_CASE(both_deposits) { BOOST_TEST(both() == 2); }
"""
HOSTILE = ["a]]>&<b>\"'", "`c` | *d* ``` @e <script>", "\x1b[31m\n\xff$(id)"]
PYTEST_TESTS = """
import os
import pytest

@pytest.mark.parametrize("word", ["a b", "c::d"])
def test_words(word):
    assert word

def test_fails():
    assert False

class TestFolder:
    def test_runs_where_the_command_does(self):
        assert os.path.basename(os.getcwd()) == "here"
"""


class Hunts(ScratchCase):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"

    def bank_account(self):
        return self.compiled("bank_account", (ROOT / "tests/programs/bank_account.c").read_text(), "-g", "-O1",
                             "-fsanitize=thread", "-pthread")

    def quiet(self):
        """Compiles a correct program with more than one schedule."""
        return self.compiled("quiet", "#include <pthread.h>\nstatic void *work(void *p) { return p; }\n"
                             "int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); return 0; }",
                             "-pthread")

    def hunt(self, *arguments, status, folder=None):
        """Runs a hunt that must end with `status`. Returns its standard output and standard error."""
        done = subprocess.run([self.build / "reweave", "hunt", *arguments], cwd=folder or self.folder,
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
                         ["failure-1", "hunt.json", "junit.xml", "output.txt", "passing", "report.sarif", "summary.md"])
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

    def built(self, name, source, *libraries):
        path = self.folder / f"{name}.cc"
        path.write_text(source)
        subprocess.run(["c++", "-std=c++20", "-g", "-O1", "-fsanitize=thread", path, "-o", self.folder / name, "-pthread",
                        *libraries], check=True, timeout=LIMIT)
        return self.folder / name

    def opens_at_the_check(self, recording):
        """The run continues for long after the failed check. gdb opens at the check, with and without --backward."""
        for way in ([], ["--backward"]):
            shown = subprocess.run([self.build / "reweave", "replay", "-g", "end", *way, recording, "--gdb-batch", "bt 1"],
                                   stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT).stdout
            self.assertIn("noted a check that failed", shown)
            self.assertRegex(shown, r"\n\d+\t.*\(both\(\)")  # the user's source line, with its number

    def check_case(self, program, case, other):
        self.hunt("-o", self.out, "--case", case, "--", program, status=FAILURE_FOUND)
        told = self.kept()
        [target] = told["targets"]
        self.assertEqual((told["case"], len(target["searches"])), (case, 1))
        [failure] = target["failures"]
        self.assertIn("both() ", failure["last_words"])
        self.opens_at_the_check(self.out / failure["recording"])
        self.hunt("--case", other, "--runs", "1", "--", program, status=FAILURE_FOUND)

    @unittest.skipUnless(pathlib.Path("/usr/include/gtest/gtest.h").exists(), "no GoogleTest")
    def test_a_case_of_googletest(self):
        self.check_case(self.built("google", GOOGLE_TEST, "-lgtest", "-lgtest_main"), "Account.BothDeposits", "Account.Fails")

    @unittest.skipUnless(pathlib.Path("/usr/include/gtest/gtest.h").exists(), "no GoogleTest")
    def test_a_case_that_is_not_there(self):
        program = self.built("google", GOOGLE_TEST, "-lgtest", "-lgtest_main")
        _, errors = self.hunt("--case", "Account.NoSuch", "--", program, status=BAD_INPUT)
        self.assertIn("has no test named Account.NoSuch", errors)
        self.assertFalse(self.out.exists())

    @unittest.skipUnless(pathlib.Path("/usr/include/boost/test/included/unit_test.hpp").exists(), "no Boost.Test")
    def test_a_case_of_boost_test(self):
        program = self.built("boost", BOOST_TEST)
        self.check_case(program, "both_deposits", "fails")
        nosuch = self.folder / "nosuch"
        self.hunt("--case", "nosuch", "-o", nosuch, "--", program, status=BAD_INPUT)
        self.assertIn("has no test case", json.loads((nosuch / "hunt.json").read_text())["targets"][0]["problem"])

    def test_a_case_of_no_framework(self):
        _, errors = self.hunt("--case", "x", "--", "/bin/true", status=BAD_INPUT)
        self.assertRegex(errors, r"\Areweave: .*no known test framework \(GoogleTest, .*\n\Z")

    @unittest.skipUnless(shutil.which("ctest"), "no CTest")
    def test_tests_of_ctest(self):
        tests = self.folder / "tests"
        tests.mkdir()
        (tests / "CTestTestfile.cmake").write_text(f"""
add_test(bank/account "{self.bank_account()}")
add_test(environment "/bin/sh" "-c" "test \\$PWD:\\$A = {self.folder}:1")
set_tests_properties(environment PROPERTIES ENVIRONMENT "A=1;B=2" WORKING_DIRECTORY "{self.folder}")
add_test(skipped "/bin/sh" "-c" "exit 4")
set_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 4)
add_test(inverted "/bin/false")
set_tests_properties(inverted PROPERTIES WILL_FAIL TRUE)
add_test(left_out "/bin/false")
""")
        command = ["-o", self.out, "--runs", "30", "--", "ctest", "--test-dir", tests, "-E", "left_out"]
        output, _ = self.hunt(*command, status=FAILURE_FOUND)
        told = {target["name"]: target for target in self.kept()["targets"]}
        self.assertEqual(list(told), ["bank/account", "environment", "skipped", "inverted"])
        self.assertEqual([bool(target["failures"]) for target in told.values()], [True, False, False, False])
        self.assertEqual([target["passing"] for target in told.values()], ["passing", "passing", "passing", None])
        self.assertEqual(told["inverted"]["problem"], "it is expected to fail")
        self.assertEqual(self.replayed(output.splitlines()[-1]), 134)
        self.hunt(*command, status=FAILURE_FOUND)
        self.assertEqual([len(target["searches"]) for target in self.kept()["targets"]], [2, 2, 2, 0])

    @unittest.skipUnless(shutil.which("meson"), "no Meson")
    def test_tests_of_meson(self):
        (self.folder / "meson.build").write_text("""project('p')
sh = find_program('sh')
test('fails', sh, args: ['-c', 'exit $A'], env: {'A': '7'}, suite: 'chosen')
test('skipped', sh, args: ['-c', 'exit 77'], suite: 'chosen')
test('left out', sh, args: ['-c', 'exit 1'])
""")
        subprocess.run(["meson", "setup", "b"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL, timeout=LIMIT)
        self.hunt("-o", self.out, "--runs", "5", "--", "meson", "test", "-C", "b", "--suite", "chosen", status=FAILURE_FOUND)
        told = {target["name"]: target for target in self.kept()["targets"]}
        self.assertEqual({name: len(target["failures"]) for name, target in told.items()}, {"fails": 1, "skipped": 0})
        self.assertEqual(told["fails"]["failures"][0]["what"], "exit status 7")

    @unittest.skipUnless(shutil.which("pytest-3"), "no pytest")
    def test_tests_of_pytest(self):
        here, there = self.folder / "here", self.folder / "there"
        here.mkdir()
        there.mkdir()
        (there / "test_things.py").write_text(PYTEST_TESTS)
        (here / "test_things.py").write_text("def test_others(): assert False\n")
        self.hunt("-o", self.out, "--runs", "2", "--", "pytest-3", "-p", "no:cacheprovider", "-k", "not nothing", "../there",
                  folder=here, status=FAILURE_FOUND)
        targets = self.kept()["targets"]
        self.assertEqual({target["name"]: len(target["failures"]) for target in targets},
                         {"../there/test_things.py::test_words[a b]": 0, "../there/test_things.py::test_words[c::d]": 0,
                          "../there/test_things.py::test_fails": 1,
                          "../there/test_things.py::TestFolder::test_runs_where_the_command_does": 0})
        self.assertEqual(targets[0]["command"], ["pytest-3", "-p", "no:cacheprovider", "-k", "not nothing",
                                                 "../there/test_things.py::test_words[a b]"])

    def test_a_driver_that_cannot_say(self):
        (self.folder / "pytest").write_text("#!/bin/sh\necho broken >&2\nexit 4\n")
        (self.folder / "pytest").chmod(0o755)
        _, errors = self.hunt("--", "./pytest", status=BAD_INPUT)
        self.assertRegex(errors, r"\Areweave: .*broken\n\Z")

    def test_json(self):
        output, _ = self.hunt("-o", self.out, "--json", "--runs", "2", "--", "/bin/true", status=0)
        self.assertEqual(json.loads(output), self.kept())


if __name__ == "__main__":
    Hunts.main()
