#!/usr/bin/env python3
"""The verb hunt on the tests of ctest, meson test and pytest."""
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

from hunt_case import BAD_INPUT, FAILURE_FOUND, LIMIT, HuntCase

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


class HuntedTests(HuntCase):
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

    def write_ctest(self, **commands):
        """Makes tests of these shell commands. Returns the words that run them."""
        (self.folder / "CTestTestfile.cmake").write_text("".join(
            f'add_test({name} "/bin/sh" "-c" "{command}")\n' for name, command in commands.items()))
        return ["ctest", "--test-dir", self.folder]

    @unittest.skipUnless(shutil.which("ctest"), "no CTest")
    def test_since_an_earlier_hunt(self):
        """A test is left out only if nothing that it reads has changed, as far as that can be known."""
        (self.folder / "data").write_text("1\n")
        ctest = self.write_ctest(reads="cat data", writes="echo $$ >made; mv made renamed; cat renamed",
                                 removes="echo 1 >gone; cat gone; rm gone", starts="echo",
                                 imports="/usr/bin/python3 -c 'import json'", fails="exit 3")
        first, second = self.folder / "first", self.folder / "second"

        def searched(folder, *since, status=0):
            self.hunt("-o", folder, "--runs", "2", *since, "--", *ctest, status=status)
            return {target["name"] for target in self.kept(folder)["targets"] if target["unchanged_since"] is None}

        all_tests = {"reads", "writes", "removes", "starts", "imports", "fails"}
        self.assertEqual(searched(first, "--since", self.folder / "nothing", status=FAILURE_FOUND), all_tests)
        since = "--since", self.folder / "nothing", "--since", first
        self.assertEqual(searched(second, *since, status=FAILURE_FOUND), {"imports", "fails"})
        self.assertEqual(searched(second, status=FAILURE_FOUND), all_tests)  # the hunt continues
        ctest = self.write_ctest(reads="cat data", writes="echo", starts="echo")
        (self.folder / "data").write_text("2\n")
        output, _ = self.hunt("-o", self.out, "--runs", "2", "--since", first / "hunt.json", "--", *ctest, status=0)
        self.assertEqual(output.splitlines()[0],
                         "0 of 3 tests fail, 2 could be searched, 1 left out because unchanged")
        skipped = xml.etree.ElementTree.parse(self.out / "junit.xml").findall(".//testcase[skipped]")
        self.assertEqual([case.get("name") for case in skipped], ["starts"])

    @unittest.skipUnless(shutil.which("ctest"), "no CTest")
    def test_shards(self):
        ctest = self.write_ctest(first="echo 1", second="echo 2", third="echo 3")

        def in_shard(shard):
            self.hunt("-o", self.folder / shard.replace("/", "of"), "--runs", "1", "--shard", shard, "--", *ctest, status=0)
            return [(target["name"], target["searches"][0]["seed"])
                    for target in self.kept(self.folder / shard.replace("/", "of"))["targets"]]

        self.assertEqual(in_shard("1/2"), [("first", 1), ("third", 1)])
        self.assertEqual(in_shard("2/2"), [("second", 1)])
        self.assertEqual([in_shard(f"{number}/5") for number in (2, 5)], [[("second", 1)], [("second", 1001)]])
        self.hunt("-o", self.folder / "1of2", "--shard", "2/2", "--", *ctest, status=BAD_INPUT)
        for shard in ("3/2", "0/2", "1", "1/0", "1/2/3", "-1/2"):
            self.hunt("-o", self.out, "--shard", shard, "--", *ctest, status=BAD_INPUT)

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


if __name__ == "__main__":
    HuntedTests.main()
