#!/usr/bin/env python3
"""Programs built by reweave-cc and reweave-c++ (docs/sleds.md): they run without Reweave, record and
replay. Traces and searches see the same accesses as in a build with -fsanitize=thread."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from scratch_case import ScratchCase

PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "programs"
# Names in tests/programs/subjects.json of programs whose runs are the same in both builds.
COMPARED = ("aba_stack", "account", "bank_account", "cxx_atomic", "cxx_thread", "double_checked_locking", "hash_set",
            "linked_list", "ping_pong", "ray_tracer", "tree_set")
ACCESS = re.compile(r"\d+ t(\d+) (read|write|atomic-\w+|fence) (\S+) extra (\S+) aux (\d+)(?: value \S+)? at (\S+)\+0x([0-9a-f]+)")

# Code that a stub might break: the red zone, flags, thread-local storage, exchanges, wide and copied values, a signal.
HARD = r"""
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct big { long words[7]; };
typedef long wide __attribute__((vector_size(32)));
static _Thread_local long own;
static _Atomic long word;
static struct big from = {{1, 2, 3, 4, 5, 6, 7}}, to;
static wide total;
static volatile sig_atomic_t seen;
static long table[8];

__attribute__((noinline)) static long leaf(const long* p, long a, long b) {  // its variables are in the red zone
  volatile long local[6] = {a, b, a + b, a - b, a * b, a ^ b};
  return p[0] + local[0] * 3 + (p[1] < p[2] ? local[1] : local[2]) + local[3] + local[4] + local[5] + p[a & 3];
}

static void handler(int number) { seen += number; }

static void* run(void* given) {
  long sum = 0;
  for (long i = 0; i < 6; i++) {
    own += i;
    long expected = i % 2 == 0 ? atomic_load(&word) : -1;
    if (atomic_compare_exchange_strong(&word, &expected, expected + 1)) sum++;
    atomic_fetch_add_explicit(&word, 10, memory_order_relaxed);
    to = from;
    total += (wide){i, i, i, i};
    table[i] = i * i;
    sum += leaf(table, i, (long)given) + to.words[6] + total[0] * 0;
    atomic_thread_fence(memory_order_seq_cst);
  }
  raise(SIGUSR1);
  return (void*)(sum + own);
}

int main(void) {
  signal(SIGUSR1, handler);
  pthread_t threads[2];
  void* sums[2];
  for (long i = 0; i < 2; i++) {
    pthread_create(&threads[i], NULL, run, (void*)i);
    pthread_join(threads[i], &sums[i]);
  }
  printf("%ld %ld word %ld seen %d total %ld\n", (long)sums[0], (long)sums[1], (long)word, (int)seen, total[3]);
  return 0;
}
"""
LIBRARY = "static long hits; long hit(void) { return ++hits; } long count(void) { return hits; }\n"
# Loses an update only inside the library, which it links or loads with dlopen.
USER = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
static long (*chosen)(void);
#ifdef LINKED
long hit(void);
long count(void);
#endif
static void* run(void* given) { chosen(); return given; }
int main(int argc, char** argv) {
#ifdef LINKED
  chosen = hit;
  long (*counted)(void) = count;
#else
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) return 3;
  chosen = (long (*)(void))dlsym(library, "hit");
  long (*counted)(void) = (long (*)(void))dlsym(library, "count");
#endif
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  if (counted() != 2) abort();
  return 0;
}
"""


def subject(name):
    rows = json.loads((PROGRAMS / "subjects.json").read_text(encoding="utf-8"))
    rows = rows if isinstance(rows, list) else rows["programs"]
    return next(row for row in rows if row["name"] == name)


class SledsCheck(ScratchCase):
    def setUp(self):
        super().setUp()
        self.reweave = self.build / "reweave"
        self.wrappers = {"c": self.build / "recorder/compiler/reweave-cc", "c++": self.build / "recorder/compiler/reweave-c++"}

    def run_it(self, *command, status=0, **more):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600,
                              errors="replace", stdin=subprocess.DEVNULL, **more)
        if status is not None:
            self.assertEqual(done.returncode, status, f"{command}: {done.stdout[-500:]} {done.stderr[-500:]}")
        return done

    def built(self, name, source, *flags, language="c"):
        path = self.folder / name
        suffix = {"c": ".c", "c++": ".cc"}[language]
        text = self.folder / (name + suffix)
        text.write_text(source)
        self.run_it(self.wrappers[language], "-g", "-w", text, "-o", path, "-pthread", *flags)
        return path

    def record(self, *command, status=0):
        shutil.rmtree(self.recording, ignore_errors=True)
        done = self.run_it(self.reweave, "record", "-o", self.recording, "--", *command, status=status)
        replayed = self.run_it(self.reweave, "replay", self.recording, status=done.returncode)
        self.assertEqual(replayed.stdout, done.stdout)
        return done

    def events(self, program, arguments):
        """Records and traces the program. Counts its accesses to its variables and the heap, by source line."""
        self.record(program, *arguments, status=None)  # its status may depend on the schedule
        trace = self.folder / "trace.rwt"
        trace.unlink(missing_ok=True)
        self.run_it(self.reweave, "trace", self.recording, "-o", trace)
        found = [match.groups() for match in
                 map(ACCESS.fullmatch, self.run_it(self.reweave, "dump", trace).stdout.splitlines()) if match]
        found = [event for event in found if event[5] == str(program) and 0x5555_0000_0000 <= int(event[2], 16) < 0x5556_0000_0000]
        # A pc is the address after a call or sled, so the line is that of the byte before it.
        places = sorted({int(event[6], 16) - 1 for event in found})
        lines = self.run_it("addr2line", "-e", program, *map(hex, places)).stdout.splitlines()
        named = dict(zip(places, (pathlib.Path(line.split(" ")[0]).name for line in lines)))
        return collections.Counter((thread, kind, size, aux, named[int(pc, 16) - 1])
                                   for thread, kind, _, size, aux, _, pc in found)

    def test_runs_without_reweave(self):
        for level in ("-O0", "-O2"):
            program = self.built("hard", HARD, level)
            plain = self.folder / "plain"
            self.run_it("clang-14", "-w", level, self.folder / "hard.c", "-o", plain, "-pthread")
            self.assertEqual(self.run_it(program).stdout, self.run_it(plain).stdout)
            self.assertNotIn("reweave", self.run_it("nm", "-u", program).stdout)
            self.assertNotIn("reweave", self.run_it("readelf", "-d", program).stdout)

    def test_hard_code_is_unharmed(self):
        for level in ("-O0", "-O2", "-O3 -mavx2 -fno-omit-frame-pointer", "-Os -fno-pie -no-pie"):
            program = self.built("hard", HARD, *level.split())
            expected = self.run_it(program).stdout
            self.assertEqual(self.record(program).stdout, expected)
            self.run_it(self.reweave, "trace", self.recording, "-o", self.folder / f"{level[:3]}.rwt")
            # --check compares the output of each run, so it would reveal a stub that changes a value of the program.
            check = f"grep -qxF '{expected.strip()}'"
            self.run_it(self.reweave, "explore", self.recording, "-o", self.folder / f"found{level[:3]}", "--runs", 50,
                        "--check", check)

    def test_same_events_as_thread_sanitizer(self):
        for name in COMPARED:
            row = subject(name)
            for level in ("-O0", "-O2") if row["language"] == "c" else ("-O1",):
                with self.subTest(name=name, level=level):
                    self.compare_builds(row, level)

    def compare_builds(self, row, level):
        flags = [level, "-g", "-w", "-pthread", "-std=" + {"c": "gnu11", "c++": "c++20"}[row["language"]]]
        sleds, calls = self.folder / "sleds", self.folder / "calls"
        source = PROGRAMS / row["source"]
        self.run_it(self.wrappers[row["language"]], *flags, source, "-o", sleds)
        # By default clang does not instrument a read followed by a write of the same variable; sleds do.
        self.run_it({"c": "clang-14", "c++": "clang++-14"}[row["language"]], *flags, "-fsanitize=thread", "-mllvm",
                    "-tsan-instrument-read-before-write=1", source, "-o", calls)
        # The threads' accesses may depend on which thread comes first, which may differ between recordings on a busy
        # machine. So try several recordings: an access without a sled is missing in all of them.
        for _ in range(10):
            ours, theirs = self.events(sleds, row["argv"]), self.events(calls, row["argv"])
            if not self.unequal(ours, theirs):
                break
        self.assertGreater(sum(ours.values()), 5)
        self.assertEqual(self.unequal(ours, theirs), "")

    @staticmethod
    def unequal(ours, theirs):
        """Describes the accesses that only one of the builds makes."""
        # Some calls to ThreadSanitizer have no line, but the sleds in their place have one.
        unknown = sum(count for event, count in theirs.items() if event[-1].endswith(":?"))
        missing = collections.Counter({e: n for e, n in (theirs - ours).items() if not e[-1].endswith(":?")})
        if missing:
            return f"seen only with -fsanitize=thread: {missing}"
        return "" if sum((ours - theirs).values()) <= unknown else f"seen only with sleds: {ours - theirs}"

    def test_explore_finds_what_accesses_show(self):
        """A lost increment needs a switch between two accesses."""
        racy = r"""
#include <assert.h>
#include <pthread.h>
static int hits;
static void* hit(void* given) { hits++; return given; }
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, hit, 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  assert(hits == 2);
  return 0;
}
"""
        for level in ("-O0", "-O2"):
            program = self.built("racy", racy, level)
            self.record(program)
            found = self.folder / f"found{level}"
            text = self.run_it(self.reweave, "explore", self.recording, "-o", found, "--runs", 300, "--first",
                               status=10).stdout
            self.assertNotIn("memory accesses were not schedule points", text)
            failing = next(path.parent for path in found.rglob("manifest"))
            self.assertIn("hits == 2", self.run_it(self.reweave, "replay", failing, status=134).stderr)
            # The failing run can be traced too: the replay that writes the trace ends in the same way.
            self.run_it(self.reweave, "trace", failing, "-o", self.folder / f"failing{level}.rwt")
            races = self.run_it(self.reweave, "predict", "--analysis=races", self.recording, status=None).stdout
            self.assertIn("racy.c:5", races)
            # --assume can name accesses, and --fork-at lets runs begin late.
            self.run_it(self.reweave, "explore", self.recording, "-o", self.folder / f"held{level}", "--runs", 100,
                        "--assume", "uninterrupted hit:5.1-5.2")
            self.run_it(self.reweave, "explore", self.recording, "-o", self.folder / f"late{level}", "--runs", 300,
                        "--first", "--fork-at", "hit", status=10)

    def test_libraries(self):
        library = self.folder / "libhit.so"
        (self.folder / "hit.c").write_text(LIBRARY)
        self.run_it(self.wrappers["c"], "-g", "-O2", "-shared", "-fPIC", self.folder / "hit.c", "-o", library)
        opened = self.built("opened", USER, "-O1")
        linked = self.built("linked", USER, "-O1", "-DLINKED", library, f"-Wl,-rpath,{self.folder}")
        for command in ([opened, library], [linked]):
            self.record(*command)
            self.run_it(self.reweave, "explore", self.recording, "-o", self.folder / command[0].with_suffix(".found"),
                        "--runs", 300, "--first", status=10)

    def test_doctor_and_races_know(self):
        program = self.built("hard", HARD, "-O1")
        checks = json.loads(self.run_it(self.reweave, "doctor", "--json", program, status=None).stdout)
        self.assertIn("reweave-cc", json.dumps(checks))
        done = self.run_it(self.reweave, "record", "--races", "-o", self.recording, "--", program, status=None)
        self.assertNotIn("sees no memory accesses", done.stderr)

    def test_stands_in_build_systems(self):
        (self.folder / "a.c").write_text("int shared; int main(void) { return shared; }\n")
        (self.folder / "Makefile").write_text("CC = cc\nCFLAGS = -O2 -Wall -Werror\na: a.o\n\t$(CC) $(LDFLAGS) -o $@ a.o\n")
        self.run_it("make", "-s", f"CC={self.wrappers['c']}", cwd=self.folder)
        self.has_sleds(self.folder / "a")
        environment = {**os.environ, "CC": str(self.wrappers["c"]), "CXX": str(self.wrappers["c++"])}
        (self.folder / "meson.build").write_text("project('p', 'c', default_options: ['werror=true'])\nexecutable('b', 'a.c')\n")
        if shutil.which("meson"):
            self.run_it("meson", "setup", "made", cwd=self.folder, env=environment)
            self.run_it("ninja", "-C", "made", cwd=self.folder)
            self.has_sleds(self.folder / "made/b")
        (self.folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.10)\nproject(p C CXX)\nadd_executable(c a.c)\n")
        if shutil.which("cmake"):
            self.run_it("cmake", "-S", ".", "-B", "cmade", cwd=self.folder, env=environment)
            self.run_it("cmake", "--build", "cmade", cwd=self.folder)
            self.has_sleds(self.folder / "cmade/c")

    def has_sleds(self, program):
        self.assertIn("reweave_sleds", self.run_it("readelf", "-SW", program).stdout)

    def test_says_what_is_wrong(self):
        alone = self.folder / "bin/reweave-cc"
        alone.parent.mkdir()
        shutil.copy(self.wrappers["c"], alone)
        done = self.run_it(alone, "-c", "a.c", status=1)
        self.assertRegex(done.stderr, r"\Areweave-cc: \S+/lib/reweave/reweave-sleds-14\.so is missing: .*\n\Z")
        for variable, arguments, says in (({"REWEAVE_CC": "gcc"}, ["a.c"], "gcc is not supported yet"),
                                          ({"REWEAVE_CC": "no-such-clang"}, ["a.c"], "there is no no-such-clang"),
                                          ({}, ["-flto", "a.c"], "-flto is not supported yet"),
                                          ({}, ["-fsanitize=thread", "a.c"], "-fsanitize=thread")):
            done = self.run_it(self.wrappers["c"], *arguments, status=1, env={**os.environ, **variable})
            self.assertEqual(done.stderr.count("\n"), 1)
            self.assertIn(says, done.stderr)

    def test_installed_anywhere(self):
        """The wrapper works in any folder that has bin and lib/reweave, and through a link to it from elsewhere."""
        bin_folder, parts = self.folder / "moved/bin", self.folder / "moved/lib/reweave"
        bin_folder.mkdir(parents=True)
        parts.mkdir(parents=True)
        shutil.copy(self.wrappers["c"], bin_folder)
        shutil.copy(self.build / "recorder/compiler/reweave-sleds-14.so", parts)
        link = self.folder / "reweave-cc"
        link.symlink_to(bin_folder / "reweave-cc")
        (self.folder / "a.c").write_text("int shared; int main(void) { return shared; }\n")
        self.run_it(link, self.folder / "a.c", "-o", self.folder / "a")
        self.has_sleds(self.folder / "a")


if __name__ == "__main__":
    SledsCheck.main()
