#!/usr/bin/env python3
"""The verb hunt on the tests of ctest, meson test and pytest."""
import shutil
import subprocess
import unittest

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
