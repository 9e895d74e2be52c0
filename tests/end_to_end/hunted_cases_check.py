#!/usr/bin/env python3
"""The verb hunt on single cases of test frameworks."""
import json
import os
import pathlib
import subprocess
import unittest

from hunt_case import BAD_INPUT, FAILURE_FOUND, LIMIT, HuntCase

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
HEADER_ONLY = os.environ.get("REWEAVE_SOAK") == "1"
BOOST_HEADER = "boost/test/included/unit_test.hpp" if HEADER_ONLY else "boost/test/unit_test.hpp"
BOOST_FLAGS = () if HEADER_ONLY else ("-DBOOST_TEST_DYN_LINK", "-lboost_unit_test_framework")
HEADER_ONLY_MARK = "BOOST_TEST_RUN_FILTERS"
BOOST_PARAMETERS = pathlib.Path("/usr/include/boost/test/impl/unit_test_parameters.ipp")
BOOST_TEST = LOST_UPDATE + f"""
#define BOOST_TEST_MODULE account
#include <{BOOST_HEADER}>
BOOST_AUTO_TEST_CASE(fails) {{ BOOST_TEST(false); }}
BOOST_AUTO_TEST_CASE(both_deposits) {{ BOOST_TEST(both() == 2); }}
"""


class HuntedCases(HuntCase):
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
        program = self.built("google", GOOGLE_TEST, "-lgtest", "-lgtest_main")
        _, errors = self.hunt("--case", "Account.NoSuch", "--", program, status=BAD_INPUT)
        self.assertIn("has no test named Account.NoSuch", errors)
        self.assertFalse(self.out.exists())
        self.check_case(program, "Account.BothDeposits", "Account.Fails")

    @unittest.skipUnless((pathlib.Path("/usr/include") / BOOST_HEADER).exists(), "no Boost.Test")
    def test_a_case_of_boost_test(self):
        program = self.built("boost", BOOST_TEST, *BOOST_FLAGS)
        self.check_case(program, "both_deposits", "fails")
        nosuch = self.folder / "nosuch"
        self.hunt("--case", "nosuch", "-o", nosuch, "--", program, status=BAD_INPUT)
        self.assertIn("has no test case", json.loads((nosuch / "hunt.json").read_text())["targets"][0]["problem"])

    def test_a_case_of_the_header_only_boost_test(self):
        """Such a program has no library of the framework, but the framework's help text. Here a small program stands in
        for it, because compiling the headers takes 20 s."""
        program = self.compiled("standin", f'''
#include <string.h>
const char help[] = "The environment variable {HEADER_ONLY_MARK}";
int main(int argc, char** argv) {{ return argc == 2 && strcmp(argv[1], "--run_test=chosen") == 0 ? 3 : 0; }}
''')
        self.hunt("-o", self.out, "--case", "chosen", "--", program, status=FAILURE_FOUND)
        self.assertEqual(self.kept()["targets"][0]["failures"][0]["what"], "exit status 3")

    @unittest.skipUnless(BOOST_PARAMETERS.exists(), "no Boost.Test")
    def test_header_only_boost_test_has_its_mark(self):
        self.assertIn(HEADER_ONLY_MARK, BOOST_PARAMETERS.read_text())

    def test_a_case_of_no_framework(self):
        _, errors = self.hunt("--case", "x", "--", "/bin/true", status=BAD_INPUT)
        self.assertRegex(errors, r"\Areweave: .*no known test framework \(GoogleTest, .*\n\Z")


if __name__ == "__main__":
    HuntedCases.main()
