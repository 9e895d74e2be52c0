#!/usr/bin/env python3
"""<reweave/check.h>: a test finds code that fails under some schedule, and keeps the recording."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from scratch_case import ScratchCase

LIMIT = 600  # seconds
HEADERS = pathlib.Path(__file__).resolve().parents[2] / "explorer" / "include"
BODIES = {
    "lost": "auto add = [] { int seen = value; reweave::point(); value = seen + 1; }; two(add); reweave_assert(value == 2);",
    "correct": "static std::mutex m; two([] { std::lock_guard<std::mutex> lock(m); value++; }); reweave_assert(value == 2);",
    "throws": "two([] { int seen = value; reweave::point(); value = seen + 1; });"
              " if (value != 2) throw std::runtime_error(\"one is lost\");",
    "deadlock": "static std::mutex a, b; std::thread s([] { std::lock_guard<std::mutex> x(a); std::lock_guard<std::mutex> y(b); });"
                " { std::lock_guard<std::mutex> x(b); std::lock_guard<std::mutex> y(a); } s.join();",
    "chosen": "static std::mutex m; two([] { const auto n = reweave::choose(5); std::lock_guard<std::mutex> lock(m);"
              " reweave_assert(n < 5); value = value * 5 + int(n); }); reweave_assert(value != 17 && value != 24);",
    "always": "reweave_assert(value == 1);",
}
PROGRAM = """
#include <reweave/check.h>

#include <cstring>
#include <mutex>
#include <stdexcept>
#include <thread>

static int value;
template <typename F> void two(F f) { std::thread a(f), b(f); a.join(); b.join(); }

int main(int argc, char** argv) {
  const char* wanted = argc > 1 ? argv[1] : "";
  bool good = true;
  const auto check = [&](const char* name, void (*body)()) {
    if (std::strcmp(name, wanted) != 0 && std::strcmp(wanted, "all") != 0) return;
    const reweave::Result result = reweave::check([=] { value = 0; body(); });
    std::printf("%s %s explored=%d\\n%s\\n", name, result ? "good" : "bad", result.explored(), result.message().c_str());
    good = good && result;
  };
CHECKS
  return good ? 0 : 1;
}
"""
GTEST = """
#include <gtest/gtest.h>
#include <reweave/check.h>
#include <thread>
static int value;
TEST(Counter, Plain) { EXPECT_EQ(1 + 1, 2); }
TEST(Counter, TwoAdd) {
  const auto result = reweave::check([] {
    value = 0;
    auto add = [] { int seen = value; reweave::point(); value = seen + 1; };
    std::thread a(add), b(add);
    a.join(); b.join();
    EXPECT_EQ(value, 2);
  });
  EXPECT_TRUE(result) << result.message();
}
"""


class CheckHeader(ScratchCase):
    def program(self, compiler, *flags):
        checks = "".join(f'  check("{name}", [] {{ {body} }});\n' for name, body in BODIES.items())
        source, program = self.folder / "checks.cc", self.folder / f"checks{len(flags)}{compiler}"
        source.write_text(PROGRAM.replace("CHECKS", checks))
        subprocess.run([compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-g", "-pthread", *flags,
                        "-I", HEADERS, source, "-o", program], check=True, timeout=LIMIT)
        return program

    def run_check(self, program, *arguments, reweave=True):
        env = {**os.environ, "TMPDIR": str(self.folder), "REWEAVE": str(self.build / "reweave") if reweave else "/nowhere/reweave"}
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=LIMIT, env=env,
                              stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout + done.stderr

    def test_failures_are_found_and_kept(self):
        for compiler, flags in (("g++", ()), ("g++", ("-fsanitize=thread",)), ("clang++", ("-O1",))):
            if shutil.which(compiler) is None:
                continue
            program = self.program(compiler, *flags)
            for name, words in (("lost", "Assertion `value == 2' failed"), ("throws", "one is lost"),
                                ("deadlock", "deadlock")):
                status, text = self.run_check(program, name)
                self.assertEqual(status, 1, text)
                self.assertIn(f"{name} bad explored=1", text)
                self.assertIn(words, text)
                recording = re.search(r"reweave replay -g end (\S+)", text)[1]
                replayed = subprocess.run([self.build / "reweave", "replay", recording], capture_output=True, timeout=LIMIT)
                self.assertNotEqual(replayed.returncode, 0)

    def test_a_function_without_bug_passes_and_leaves_nothing(self):
        status, text = self.run_check(self.program("g++"), "correct")
        self.assertEqual((status, text.split("\n")[0]), (0, "correct good explored=1"), text)
        self.assertEqual([each.name for each in self.folder.iterdir() if each.name.startswith("reweave-check")], [])

    def test_chosen_values_vary_and_are_kept(self):
        """Two of the 25 ordered pairs of choices fail: (3, 2) and (4, 4)."""
        for flags in ((), ("-fsanitize=thread",)):
            status, text = self.run_check(self.program("g++", *flags), "chosen")
            self.assertEqual(status, 1, text)
            self.assertIn("Assertion `value != 17 && value != 24' failed", text)
            recording = re.search(r"reweave replay -g end (\S+)", text)[1]
            for _ in range(3):
                replayed = subprocess.run([self.build / "reweave", "replay", recording], capture_output=True, text=True,
                                          timeout=LIMIT)
                self.assertIn("Assertion `value != 17 && value != 24' failed", replayed.stderr)
            dumped = subprocess.run([self.build / "reweave", "dump", recording], capture_output=True, text=True,
                                    timeout=LIMIT).stdout
            chosen = [int(each, 16) for each in re.findall(r"input chosen: 0x5 (0x[0-9a-f]+)", dumped)]
            self.assertIn(chosen[-2] * 5 + chosen[-1] if len(chosen) > 1 else 0, (17, 24))

    def test_what_always_fails_fails_in_the_first_run(self):
        status, text = self.run_check(self.program("g++"), "always")
        self.assertEqual(status, 1, text)
        self.assertIn("/run", text)

    def test_the_second_check_of_a_process(self):
        status, text = self.run_check(self.program("g++"), "all")
        self.assertEqual(status, 1, text)
        for line in ("lost bad", "correct good", "throws bad", "deadlock bad", "chosen bad", "always bad"):
            self.assertIn(line, text)

    def test_without_reweave_it_is_one_call(self):
        program = self.program("g++")
        status, text = self.run_check(program, "correct", reweave=False)
        self.assertEqual((status, text.split("\n")[0]), (0, "correct good explored=0"), text)
        self.assertIn("is not there", text)
        recorded = subprocess.run([self.build / "reweave", "record", "-o", self.recording, "--", program, "correct"],
                                  capture_output=True, text=True, timeout=LIMIT)
        self.assertIn("explored=0", recorded.stdout)

    @unittest.skipUnless(os.path.exists("/usr/include/gtest/gtest.h"), "GoogleTest (libgtest-dev) is not installed")
    def test_googletest(self):
        source, program = self.folder / "cases.cc", self.folder / "cases"
        source.write_text(GTEST)
        subprocess.run(["g++", "-std=c++17", "-g", "-I", HEADERS, source, "-o", program,
                        "-lgtest", "-lgtest_main", "-pthread"], check=True, timeout=LIMIT)
        status, text = self.run_check(program)
        self.assertEqual(status, 1, text)
        self.assertRegex(text, r"FAILED  \] Counter.TwoAdd")
        self.assertIn("reweave replay -g end", text)


if __name__ == "__main__":
    CheckHeader.main()
