#!/usr/bin/env python3
"""Tests going backward from the end of a run that a signal killed, in the first or another thread, and `query` on such
recordings."""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LIMIT = 600  # seconds
PROGRAM = """
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
volatile int value;
static void fail(const char* how) {
  value = 1;
  value = 2;
  if (how[0] == 'a') abort();
  if (how[0] == 's') *(volatile int*)8 = 0;
  assert(value == 3);
}
static void* work(void* how) {
  fail(how);
  return NULL;
}
int main(int argc, char** argv) {
  pthread_t thread;
  if (argc > 2) fail(argv[1]);
  pthread_create(&thread, NULL, work, argv[1]);
  pthread_join(thread, NULL);
  return 0;
}
"""


PARTS = ("reweave", "recorder/reweave-core", "recorder/reweave-core.symbols", "recorder/libreweave.so",
         "recorder/libreweave-tsan.so", "replayer/gdb")


DEADLOCK = """
#include <pthread.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static volatile int value;
int main(void) {
  value = 1;
  pthread_mutex_lock(&first);
  value = 2;
  pthread_mutex_lock(&first);
  return 0;
}
"""


# The second child ends before the third begins.
CHILDREN = """
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
volatile int value;
int main(void) {
  if (fork() == 0) {
    value = 5;
    abort();
  }
  wait(NULL);
  if (fork() == 0) execl("/bin/true", "true", (char*)NULL);
  wait(NULL);
  value = 7;
  return 0;
}
"""


class BackwardFromTheEnd(unittest.TestCase):
    reweave = None

    def setUp(self):
        self.holder = tempfile.TemporaryDirectory(prefix="reweave-backward-")
        self.folder = pathlib.Path(self.holder.name)
        (self.folder / "program.c").write_text(PROGRAM)
        self.run_command("gcc", "-g", "-O0", "-pthread", self.folder / "program.c", "-o", self.folder / "program")

    def tearDown(self):
        self.holder.cleanup()

    def run_command(self, *command, accept=(0,)):
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        self.assertIn(done.returncode, accept, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def recordings(self):
        """Yields (recording, index of the failing thread) for each way to fail, once in the main thread and once in another."""
        for how in ("abort", "segv", "check"):
            for thread, arguments in ((0, [how, "in-main"]), (1, [how])):
                path = self.folder / f"{how}-{thread}"
                self.run_command(self.reweave, "record", "-o", path, "--", self.folder / "program", *arguments,
                                 accept=(134, 139))
                yield path, thread

    def test_gdb(self):
        for path, thread in self.recordings():
            with self.subTest(recording=path.name):
                shown = self.run_command(
                    self.reweave, "replay", "-g", "end", "--backward", path, "--gdb-batch",
                    "reweave who-wrote value;watch value;reverse-continue;reverse-continue;reverse-finish;reverse-next")
                self.assertNotRegex(shown, r"Traceback|Error occurred|Remote failure|did not reach|does not know")
                self.assertRegex(shown, r"Program received" if thread == 0 else r'Thread 2 "t1 [^\n]*" received signal')
                self.assertRegex(shown, rf"value: 1 -> 2, by thread t{thread}, [^\n]*in fail at [^\n]*program.c:8\n")
                self.assertRegex(shown, r"(?s)Old value = 2\nNew value = 1\n.*Old value = 1\nNew value = 0\n")

    def test_deadlock(self):
        """The runtime ends the run at the deadlock, while the thread waits inside the runtime."""
        (self.folder / "deadlock.c").write_text(DEADLOCK)
        self.run_command("gcc", "-g", "-O0", self.folder / "deadlock.c", "-o", self.folder / "deadlock")
        path = self.folder / "deadlocked"
        self.run_command(self.reweave, "record", "-o", path, "--", self.folder / "deadlock", accept=range(1, 256))
        for steps, lines in (("reverse-next", (9, 8, 7)), ("reverse-step", (9, 8, 7))):
            with self.subTest(steps=steps):
                shown = self.run_command(self.reweave, "replay", "-g", "end", "--backward", path, "--gdb-batch",
                                         ";".join([steps, "info line"] * len(lines)))
                self.assertNotRegex(shown, r"Traceback|Error occurred|Remote failure|did not reach|No more reverse")
                self.assertEqual(tuple(map(int, re.findall(r"Line (\d+) of", shown))), lines, shown)
        shown = self.run_command(self.reweave, "replay", "-g", "end", "--backward", path, "--gdb-batch",
                                 "reverse-stepi;watch value;reverse-continue")
        self.assertRegex(shown, r"(?s)Old value = 2\nNew value = 1\n")

    def test_child_that_ended_before_others(self):
        (self.folder / "children.c").write_text(CHILDREN)
        self.run_command("gcc", "-g", "-O0", self.folder / "children.c", "-o", self.folder / "children")
        path = self.folder / "children-recording"
        self.run_command(self.reweave, "record", "-o", path, "--", self.folder / "children")
        pid = self.run_command(self.reweave, "ps", path).splitlines()[2].split()[0]
        shown = self.run_command(self.reweave, "replay", "-g", "end", "-p", pid, "--backward", path, "--gdb-batch",
                                 "watch value;reverse-continue;info line;reverse-continue;reverse-stepi")
        self.assertNotRegex(shown, r"Traceback|Error occurred|Remote failure|did not reach|ended at event")
        self.assertRegex(shown, r"(?s)Old value = 5\nNew value = 0\n.*Line 8 of .*No more reverse-execution history")

    def test_symbols_of_another_runtime(self):
        """If gdb cannot take over a replay because the runtime's symbol file does not match, `replay` ends with a message
        instead of waiting forever."""
        for part in PARTS:
            (self.folder / "copy" / part).parent.mkdir(parents=True, exist_ok=True)
            source = self.reweave.parent / part
            (shutil.copytree if source.is_dir() else shutil.copy)(source, self.folder / "copy" / part)
        symbols = self.folder / "copy/recorder/reweave-core.symbols"
        place = next(line.split()[0] for line in symbols.read_text().splitlines() if line.endswith(" core_start"))
        symbols.write_text(re.sub("^.* core_sigreturn$", f"{place} T core_sigreturn", symbols.read_text(), flags=re.M))
        program = self.folder / "copy" / "reweave"
        self.run_command(program, "record", "-o", self.folder / "run", "--", self.folder / "program", "abort", "in-main",
                         accept=(134,))
        shown = self.run_command(program, "replay", "-g", "end", "--backward", self.folder / "run", "--gdb-batch", "bt",
                                 accept=(2,))
        self.assertIn("does not match its list of symbols", shown)

    def test_query(self):
        for path, thread in self.recordings():
            with self.subTest(recording=path.name):
                answer = json.loads(self.run_command(self.reweave, "query", path, "who-wrote", "value"))
                self.assertEqual((answer["old"], answer["new"], answer["thread"]), ("1", "2", thread), answer)
                self.assertEqual((answer["stack"][0]["function"], answer["stack"][0]["line"]), ("fail", 8), answer)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("reweave", type=pathlib.Path)
    BackwardFromTheEnd.reweave = parser.parse_args(sys.argv[1:2]).reweave.resolve()
    unittest.main(argv=sys.argv[:1])
