#!/usr/bin/env python3
"""Under each resource limit, each verb works as it does without, or names the limit in one line."""
import resource
import subprocess

from scratch_case import ScratchCase

LIMIT = 600  # seconds
KIB = 1 << 10
LIMITS = {
    "RLIMIT_STACK": [64 * KIB, 128 * KIB, 512 * KIB],
    "RLIMIT_DATA": [1000 * KIB, 10_000 * KIB, 100_000 * KIB, 1_000_000 * KIB],
    "RLIMIT_AS": [100_000 * KIB, 1_000_000 * KIB, 10_000_000 * KIB],
    "RLIMIT_FSIZE": [0, 10 * KIB, 1_000 * KIB],
    "RLIMIT_NOFILE": [16, 64, 1_000],
    "RLIMIT_CORE": [0], "RLIMIT_CPU": [20], "RLIMIT_MEMLOCK": [0], "RLIMIT_NICE": [0], "RLIMIT_RTPRIO": [0],
    "RLIMIT_SIGPENDING": [0], "RLIMIT_MSGQUEUE": [0],
}
PROGRAM = """
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;
static void* add(void* one) {
  pthread_mutex_lock(&lock);
  total++;
  pthread_mutex_unlock(&lock);
  return one;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%d\\n", total);
  return 0;
}
"""


class Limits(ScratchCase):
    def setUp(self):
        super().setUp()
        self.reweave = self.build / "reweave"
        self.program = self.compiled("program", PROGRAM, "-O1", "-g", "-pthread")
        self.verbs = {
            "record": [self.reweave, "record", "-o", self.folder / "new", "--", self.program],
            "replay": [self.reweave, "replay", self.folder / "recording"],
            "dump": [self.reweave, "dump", self.folder / "recording"],
            "trace": [self.reweave, "trace", self.folder / "recording", "-o", self.folder / "new"],
            "explore": [self.reweave, "explore", self.folder / "recording", "-o", self.folder / "new", "--runs", "10"],
            "predict": [self.reweave, "predict", self.folder / "trace"],
        }
        for command in (["record", "-o", self.folder / "recording", "--", self.program],
                        ["trace", self.folder / "recording", "-o", self.folder / "trace"]):
            subprocess.run([self.reweave, *command], check=True, timeout=LIMIT, stdout=subprocess.DEVNULL)

    def run_under(self, name, value, *command):
        number = getattr(resource, name)
        subprocess.run(["rm", "-rf", self.folder / "new"], check=True)
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT,
                              preexec_fn=lambda: resource.setrlimit(number, (value, value)))

    def test_limits_that_we_are_started_under(self):
        for name, values in LIMITS.items():
            for value in values:
                for verb, command in self.verbs.items():
                    with self.subTest(limit=name, value=value, verb=verb):
                        done = self.run_under(name, value, *command)
                        if done.returncode == 0:
                            continue
                        lines = done.stderr.splitlines()
                        self.assertIn(done.returncode, (2, 4), done.stderr)
                        self.assertEqual(len(lines), 1, done.stderr)
                        self.assertRegex(lines[0], "limit|not enough memory|Too many open files|Cannot allocate|out of memory|too large")

    def test_a_stack_that_was_larger(self):
        """A replay under a low limit executes programs with as many arguments as the recording did."""
        recording = self.folder / "large"
        command = f"x=$(printf %0100000d 0); A=$x B=$x C=$x D=$x /bin/echo done"
        subprocess.run([self.reweave, "record", "-o", recording, "--", "/bin/sh", "-c", command], check=True,
                       timeout=LIMIT, stdout=subprocess.DEVNULL)
        soft = lambda: resource.setrlimit(resource.RLIMIT_STACK,
                                          (512 * KIB, resource.getrlimit(resource.RLIMIT_STACK)[1]))
        done = subprocess.run([self.reweave, "replay", recording], capture_output=True, text=True, timeout=LIMIT,
                              preexec_fn=soft)
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)


if __name__ == "__main__":
    Limits.main()
