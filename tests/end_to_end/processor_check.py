#!/usr/bin/env python3
"""The processor that programs see: `record --processor` hides features above a level, and a replay shows the recorded
processor, on any machine."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

LIMIT = 600  # seconds

SOURCE = r"""
#include <cpuid.h>
#include <immintrin.h>
#include <stdio.h>
#include <string.h>

__attribute__((target("xsave"))) static unsigned long long components(void) { return _xgetbv(0); }

/* The vector functions of the C library, and its resolver, are chosen by what it is told. */
int main(void) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  char text[4096];
  __builtin_cpu_init();
  printf("sse4.2 %d\navx2 %d\navx512f %d\n", __builtin_cpu_supports("sse4.2") != 0, __builtin_cpu_supports("avx2") != 0,
         __builtin_cpu_supports("avx512f") != 0);
  __cpuid(1, a, b, c, d);
  printf("identity %x.%u\n", a, b >> 24);
  if ((c & bit_OSXSAVE) != 0) printf("components %llx\n", components());
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = 0;
  printf("length %zu\n", strlen(text));
  return 0;
}
"""


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=LIMIT, **options)


class ProcessorTest(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory(prefix="reweave-processor-")
        self.folder = pathlib.Path(self.holder.name)
        (self.folder / "program.c").write_text(SOURCE)
        run("cc", "-O1", "-o", self.folder / "program", self.folder / "program.c", check=True)

    def tearDown(self):
        self.holder.cleanup()

    def record(self, *options, before=()):
        recording = self.folder / f"recording{len(list(self.folder.iterdir()))}"
        done = run(*before, self.build / "reweave", "record", "--checksums", *options, "-o", recording, "--", self.folder / "program")
        self.assertEqual(done.returncode, 0, done.stderr)
        return recording, done.stdout

    def replay_of(self, recording):
        done = run(self.build / "reweave", "replay", recording)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def replay(self, recording, before=()):
        done = run(*before, self.build / "reweave", "replay", "--check", recording)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def said(self, text):
        return dict(line.split(" ", 1) for line in text.splitlines())

    def test_hides_nothing_if_not_asked(self):
        native = self.said(run(self.folder / "program").stdout)
        recorded = self.said(self.record()[1])
        for feature in ("sse4.2", "avx2", "avx512f", "length"):
            self.assertEqual(native[feature], recorded[feature])
        self.assertEqual(native.get("components"), recorded.get("components"))

    def test_processes_are_told_the_same(self):
        """One process searches code for such instructions. Other processes of the tree reuse the places that it found,
        and get the same answers."""
        recording, program = self.folder / "tree", self.folder / "program"
        done = run(self.build / "reweave", "record", "-o", recording, "--", "sh", "-c",
                   f"{program}; {program}; {program}; exit 0")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = done.stdout.splitlines()
        third = len(said) // 3
        self.assertGreater(third, 4)
        self.assertEqual(said[:third], said[third:2 * third])
        self.assertEqual(said[:third], said[2 * third:])
        self.assertEqual(self.replay_of(recording), done.stdout)
        places = {}
        dumped = run(self.build / "reweave", "dump", recording).stdout
        for thread, where, count in re.findall(r"^\d+ t(\d+) code at (\S+), (\d+) places", dumped, re.MULTILINE):
            places.setdefault(thread, []).append((where, int(count)))
        of_program = [places[thread] for thread in sorted(places, key=int)[1:]]
        self.assertEqual(len(of_program), 3)
        self.assertTrue(any(count > 1 for _, count in of_program[0]))
        self.assertEqual(of_program[0], of_program[1])
        self.assertEqual(of_program[0], of_program[2])

    def test_levels(self):
        native = self.said(run(self.folder / "program").stdout)
        for level, left in (("x86-64-v2", {"sse4.2"}), ("x86-64-v3", {"sse4.2", "avx2"}),
                            ("x86-64-v4", {"sse4.2", "avx2", "avx512f"})):
            recording, output = self.record("--processor", level)
            said = self.said(output)
            for feature in ("sse4.2", "avx2", "avx512f"):
                self.assertEqual(said[feature], native[feature] if feature in left else "0", f"{feature} at {level}")
            self.assertEqual("components" in said, level != "x86-64-v2" and "components" in native)
            self.assertEqual(self.replay(recording), output)

    def test_refuses_other_levels(self):
        for level in ("x86-64-v1", "v3", "1", "haswell"):
            done = run(self.build / "reweave", "record", "--processor", level, "-o", self.folder / "none", "--", "true")
            self.assertNotEqual(done.returncode, 0, level)
            self.assertIn("x86-64-v3", done.stderr)
            self.assertFalse((self.folder / "none").exists())

    def test_a_replay_on_another_processor_says_the_same(self):
        processors = sorted(os.sched_getaffinity(0))
        for first in processors[:2]:
            recording, output = self.record(before=["taskset", "-c", str(first)])
            for other in processors[:2]:
                self.assertEqual(self.replay(recording, before=["taskset", "-c", str(other)]), output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    known, rest = parser.parse_known_args()
    ProcessorTest.build = known.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
