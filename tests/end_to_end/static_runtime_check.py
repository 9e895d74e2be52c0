#!/usr/bin/env python3
"""Programs into which clang links ThreadSanitizer's runtime statically, as it does by default: record, replay, trace,
predict and explore work as for programs that load the runtime.

    static_runtime_check.py --build BUILD
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "programs"
BUILD = None


# Static variables of functions. The initialisation of one fails at the first attempt.
GUARDS = """
#include <cstdio>
#include <stdexcept>
#include <thread>
static int attempts = 0;
static int number() { static int made = ++attempts; return made; }
static int late() {
  static int made = attempts++ < 2 ? throw std::runtime_error("not yet") : attempts;
  return made;
}
int main() {
  std::thread other(number);
  number();
  other.join();
  try {
    late();
  } catch (const std::runtime_error& error) {
    std::puts(error.what());
  }
  std::printf("%d %d\\n", number(), late());
}
"""


class StaticRuntime(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def build(self, source):
        program = self.folder / "program"
        if source == GUARDS:
            subprocess.run(["clang++", "-x", "c++", "-", "-g", "-O1", "-fsanitize=thread", "-pthread", "-o", program],
                           input=source, text=True, check=True)
            return program
        compiler = "clang++" if source.endswith(".cc") else "clang"
        subprocess.run([compiler, "-g", "-O1", "-fsanitize=thread", "-pthread", PROGRAMS / source, "-o", program],
                       check=True)
        return program

    def reweave(self, *arguments):
        return subprocess.run([BUILD / "reweave", *arguments], cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=600)

    def record_and_replay(self, source, *options):
        recorded = self.reweave("record", *options, "-o", "recording", "--", self.build(source))
        replayed = self.reweave("replay", "recording")
        self.assertEqual((recorded.returncode, recorded.stdout), (replayed.returncode, replayed.stdout),
                         recorded.stderr + replayed.stderr)
        return recorded

    def test_programs_replay(self):
        for source in ("behaviour/condvars.c", "behaviour/signals_handler.c", "behaviour/fork_exec.c",
                       "behaviour/setjmp_longjmp.c", "cxx_thread_ok.cc", "behaviour/dlopen_libm.c"):
            with self.subTest(source):
                self.setUp()
                recorded = self.record_and_replay(source, "--chaos")
                self.assertEqual(recorded.returncode, 0, recorded.stderr)

    def test_static_variables_of_functions(self):
        recorded = self.record_and_replay(GUARDS, "--chaos")
        self.assertEqual((recorded.returncode, recorded.stdout), (0, "not yet\n1 3\n"), recorded.stderr)

    def test_story(self):
        self.assertEqual(self.record_and_replay("bank_account.c", "--seed", "1").stdout, "balance 40\n")
        traced = self.reweave("trace", "recording", "-o", "trace.rwt")
        self.assertEqual(traced.returncode, 0, traced.stderr)
        predicted = self.reweave("predict", "trace.rwt", "-o", "candidates")
        self.assertIn("#1 atomicity R1-W2-W1", predicted.stdout)
        self.assertIn("holding lock", predicted.stdout)
        explored = self.reweave("explore", "recording", "--candidates", "candidates", "--runs", "100", "-o", "found")
        self.assertIn("candidate 1 (atomicity violation): its witness was followed to the end; the run failed",
                      explored.stdout, explored.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    BUILD = options.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
