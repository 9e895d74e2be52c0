#!/usr/bin/env python3
"""A recording ends where no thread of the tree can continue, and only there. Covers processes that wait for each other,
deadlocks beside threads that do something else, and programs that only look deadlocked."""
import concurrent.futures
import re
import subprocess

from scratch_case import ScratchCase

DEADLOCK = 7
LIMIT_SECONDS = 300

HEAD = r"""
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static sem_t told, forked;
static volatile int stop;
static void *tick(void *p) { while (!stop) usleep(10000); return p; }
static void start_ticker(void) { pthread_t t; pthread_create(&t, 0, tick, 0); }
static void *hold(void *p) {
  pthread_mutex_lock(&a); sem_post(&told); sem_wait(&forked); pthread_mutex_unlock(&a); return p;
}
/* The child is forked while a thread that it does not have holds `a`. */
static pid_t fork_while_held(void) {
  pthread_t t;
  sem_init(&told, 0, 0);
  sem_init(&forked, 0, 0);
  pthread_create(&t, 0, hold, 0);
  sem_wait(&told);
  pid_t child = fork();
  if (child == 0) { pthread_mutex_lock(&a); _exit(0); }
  sem_post(&forked);
  pthread_join(t, 0);
  return child;
}
static void *other_way(void *p) { pthread_mutex_lock(&b); sem_post(&told); pthread_mutex_lock(&a); return p; }
static void *lock(void *mutex) { pthread_mutex_lock(mutex); return mutex; }
static void cross(void) {
  pthread_t t;
  sem_init(&told, 0, 0);
  pthread_mutex_lock(&a);
  pthread_create(&t, 0, other_way, 0);
  sem_wait(&told);
  pthread_mutex_lock(&b);
}
static void wait_for_all(void) { while (wait(0) > 0) {} }
static void on_signal(int n) { sem_post(&told); }
static pid_t c;
static void on_alarm(int n) { kill(c, SIGKILL); }
"""

# Name: (body of main, pattern of the message).
STUCK = {
    "child at a lock": ("fork_while_held(); wait_for_all();",
                        r"thread 0 waits for one of its child processes to end, which only thread 2 could end"),
    "one child": ("int s; waitpid(fork_while_held(), &s, 0);", r"thread 0 waits for a child process to end"),
    "child at a lock, beside a ticker": ("start_ticker(); fork_while_held(); wait_for_all();",
                                         r"a process waits and none of its threads can be woken"),
    "circle in a child": ("if (fork() == 0) { cross(); _exit(0); } wait_for_all();", r"threads wait for each other"),
    "circle beside a ticker": ("start_ticker(); cross();", r"threads wait for each other(\n.*held by thread \d+){2}"),
    "names": ("pthread_t t; sem_init(&told, 0, 0); pthread_mutex_lock(&a); pthread_create(&t, 0, other_way, 0); "
              "pthread_join(t, 0);", r"\n  thread 0 waits for thread 1 to end in main \(.*:\d+\)"
              r"\n  thread 1 waits for the mutex a in other_way \(.*:\d+\)"),
    "a mutex of the heap": ("pthread_t t; pthread_mutex_t *m = malloc(sizeof *m); pthread_mutex_init(m, 0); "
                            "pthread_mutex_lock(m); pthread_create(&t, 0, lock, m); pthread_join(t, 0);",
                            r"\n  thread 1 waits for a mutex at 0x.*\n  for the names of these objects: reweave explain /.*/run\d+"),
    "grandchild": ("if (fork() == 0) { fork_while_held(); wait_for_all(); _exit(0); } wait_for_all();",
                   r"every thread waits and none can be woken"),
    "each at a pipe": ("int to[2], from[2]; char c; pipe(to); pipe(from); if (fork() == 0) { read(to[0], &c, 1); "
                       "write(from[1], &c, 1); _exit(0); } read(from[0], &c, 1); write(to[1], &c, 1); wait_for_all();",
                       r"waits for data from a pipe, which only threads 0, 1 could end"),
    "full pipe": ("int to[2]; static char much[200000]; pipe(to); if (fork() == 0) { fork_while_held(); wait_for_all(); } "
                  "write(to[1], much, sizeof much); wait_for_all();", r"waits for room in a pipe"),
    "under a shell's handler": ("signal(SIGINT, on_signal); fork_while_held(); wait_for_all();", r"none can be woken"),
}
# Programs that end with status 0.
FREE = {
    "child killed later": "c = fork_while_held(); sleep(3); kill(c, SIGKILL); wait_for_all();",
    "child killed by an alarm": "signal(SIGALRM, on_alarm); c = fork_while_held(); alarm(4); wait_for_all();",
    "slow child": "if (fork() == 0) { sleep(4); _exit(0); } wait_for_all();",
    "pipe from a slow child": "int p[2]; char c; pipe(p); if (fork() == 0) { sleep(4); write(p[1], \"x\", 1); _exit(0); } "
                              "read(p[0], &c, 1); wait_for_all();",
    "pipe that a thread fills later": "int p[2]; char c; pipe(p); if (fork() == 0) { sleep(3); _exit(0); } close(p[1]); "
                                      "read(p[0], &c, 1); wait_for_all();",
    "server asked to end": "sem_init(&told, 0, 0); signal(SIGTERM, on_signal); pid_t me = getpid(); if (fork() == 0) "
                           "{ sleep(4); kill(me, SIGTERM); _exit(0); } while (sem_wait(&told) != 0) {} wait_for_all();",
}


class Deadlocks(ScratchCase):
    def reweave(self, *arguments):
        done = subprocess.run([self.build / "reweave", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", timeout=LIMIT_SECONDS, check=False)
        return done.returncode, done.stdout

    def program(self, body, name="program"):
        return self.compiled(name, HEAD + "int main(void) { " + body + " return 0; }\n", "-g", "-pthread", "-w")

    def recorded(self, bodies):
        """Yields (name, recording, status, output) for each program. Four run at once, because they mostly sleep."""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            waiting = {name: pool.submit(self.reweave, "record", "-o", self.folder / f"run{number}", "--",
                                         self.program(body, f"program{number}"))
                       for number, (name, body) in enumerate(bodies.items())}
            for number, (name, answer) in enumerate(waiting.items()):
                yield name, self.folder / f"run{number}", *answer.result()

    def test_stuck(self):
        for name, recording, status, said in self.recorded({name: body for name, (body, _) in STUCK.items()}):
            with self.subTest(name):
                self.assertEqual(status, DEADLOCK, said)
                self.assertRegex(said, STUCK[name][1])
                status, again = self.reweave("replay", recording)
                self.assertEqual(status, DEADLOCK, again)
                self.assertIn(re.search(r"deadlock: .*(\n  .*)*", said)[0], again)
                self.assertEqual("reweave explain" in said, "at 0x" in said, said)

    def test_free(self):
        for name, _, status, said in self.recorded(FREE):
            with self.subTest(name):
                self.assertEqual(status, 0, said)

    def test_shell(self):
        """The shell that runs the program has handlers of its own."""
        program = self.program("fork_while_held(); wait_for_all();")
        status, said = self.reweave("record", "-o", self.recording, "--", "/bin/bash", "-c", f"{program}; echo done")
        self.assertEqual(status, DEADLOCK, said)

    def stack_at_the_end(self, pid):
        status, said = self.reweave("replay", "--quiet", "-g", "end", "-p", pid, "--gdb-batch", "bt", self.recording)
        self.assertEqual(status, 0, said)
        return said

    def processes(self):
        """Returns (ID, how it ended) for each process of the recording."""
        rows = [line.split() for line in self.reweave("ps", self.recording)[1].splitlines()[1:]]
        return [(row[0], row[2]) for row in rows]

    def test_each_process_has_a_stack(self):
        self.reweave("record", "-o", self.recording, "--", self.program("fork_while_held(); wait_for_all();"))
        (parent, parent_end), (child, child_end) = self.processes()
        self.assertEqual((parent_end, child_end), ("-", "-"))
        self.assertRegex(self.stack_at_the_end(parent), r"wait4? .*\n(.*\n)*#.* main ")
        self.assertRegex(self.stack_at_the_end(child), r"fork_while_held .*\n(.*\n)*#.* main ")

    def test_a_killed_child_has_a_stack(self):
        self.reweave("record", "-o", self.recording, "--", self.program(
            "pid_t c = fork_while_held(); sleep(1); kill(c, SIGKILL); wait_for_all();"))
        (_, parent_end), (child, child_end) = self.processes()
        self.assertEqual((parent_end, child_end), ("0", "SIGKILL"))
        self.assertRegex(self.stack_at_the_end(child), r"fork_while_held .*\n(.*\n)*#.* main ")


if __name__ == "__main__":
    Deadlocks.main()
