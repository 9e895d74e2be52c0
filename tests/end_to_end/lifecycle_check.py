#!/usr/bin/env python3
"""Tests how `reweave record` begins and ends: as process 1 of a PID namespace, with processes left behind, and when
signals ask it to end. The part recorded so far is kept and replays. The status is the program's or the signal's.

    lifecycle_check.py --build BUILD [--instants N] [TEST...]
"""
import argparse
import os
import pathlib
import random
import signal
import subprocess
import time
import unittest

from faults_check import guards_of
from scratch_case import ScratchCase

LIMIT_SECONDS = 600
LONG = "100"  # seconds; the tests end it early
# Waits for a signal, then a little for a second one, and prints the number of signals.
COUNTS = r"""
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile int taken;
static void take(int number) { (void)number; taken++; }
int main(void) {
  signal(SIGINT, take); signal(SIGTERM, take); signal(SIGHUP, take);
  puts("ready"); fflush(stdout);
  while (taken == 0) pause();
  for (int i = 0; i < 4; i++) usleep(100000);
  printf("taken %d\n", taken);
  return 0;
}
"""
# Its main thread computes until another thread sets a flag. Then it kills a child; a second child kills its own child.
CONTENDS = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int go;
static volatile long turns;
static void* let_go(void* none) { usleep(20000); go = 1; return none; }
int main(void) {
  pthread_t thread;
  int status;
  pthread_create(&thread, 0, let_go, 0);
  while (!go) turns++;
  pthread_join(thread, 0);
  pid_t child = fork();
  if (child == 0) for (;;) pause();
  usleep(20000);
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  printf("child %d\n", status);
  if (fork() == 0) {
    pid_t orphan = fork();
    if (orphan == 0) for (;;) pause();
    kill(orphan, SIGKILL);
    _exit(0);
  }
  wait(&status);
  printf("parent %d\n", status);
  return 4;
}
"""


def can_unshare():
    return subprocess.run(["unshare", "-Urmpf", "--mount-proc", "true"], capture_output=True, check=False).returncode == 0


def wait_for(condition, what):
    limit = time.monotonic() + LIMIT_SECONDS
    while not condition():
        if time.monotonic() > limit:
            raise AssertionError(f"{what} does not come about")
        time.sleep(0.005)


def names_of_children(process):
    children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [pathlib.Path(f"/proc/{child}/comm").read_text().strip() for child in children]


class Lifecycle(ScratchCase):
    arguments = None

    def setUp(self):
        super().setUp()
        self.reweave = self.arguments.build / "reweave"
        self.random = random.Random(self.arguments.seed)
        self.taken = 0

    def run_here(self, *command, prefix=()):
        return subprocess.run([*prefix, self.reweave, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT_SECONDS, check=False)

    def start(self, *command, prefix=()):
        """Starts `record` in a process group of its own, with its output in files. Returns the process."""
        self.output, self.errors = self.folder / "output", self.folder / "errors"
        with open(self.output, "wb") as output, open(self.errors, "wb") as errors:
            return subprocess.Popen([*prefix, self.reweave, "record", *command], stdin=subprocess.DEVNULL, stdout=output,
                                    stderr=errors, process_group=0)

    def next_recording(self):
        self.taken += 1
        return self.folder / f"recording-{self.taken}"

    def assert_replays(self, recording, status, output):
        replayed = self.run_here("replay", recording)
        self.assertEqual((replayed.returncode, replayed.stdout), (status, output), replayed.stderr)

    def test_process_one(self):
        if not can_unshare():
            self.skipTest("no PID namespaces here")
        contends = self.compiled("contends", CONTENDS, "-pthread")
        shell = ["sh", "-c", "(sleep 0.2; echo orphan) & (true &); exit 3"]
        for namespace in (["unshare", "-Urmpf", "--kill-child", "--mount-proc"], ["unshare", "-Urmpf", "--kill-child"]):
            for program, status, output in ((["echo", "hi"], 0, "hi\n"), (shell, 3, "orphan\n"), ([contends], 4, None)):
                with self.subTest(namespace=namespace, program=program):
                    recording = self.next_recording()
                    recorded = self.run_here("record", "-o", recording, "--", *program, prefix=namespace)
                    output = output or "child 9\nparent 0\n"
                    self.assertEqual((recorded.returncode, recorded.stdout), (status, output), recorded.stderr)
                    self.assert_replays(recording, status, output)
                    replayed = self.run_here("replay", recording, prefix=namespace)
                    self.assertEqual((replayed.returncode, replayed.stdout), (status, output), replayed.stderr)

    def test_process_one_is_asked_to_end(self):
        """Like `docker stop`, or killing the recorder inside a container."""
        if not can_unshare():
            self.skipTest("no PID namespaces here")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL):
            with self.subTest(signal=number.name):
                recording = self.next_recording()
                outer = self.start("-o", recording, "--", "sh", "-c", f"echo begun; exec sleep {LONG}",
                                   prefix=["unshare", "-Urmpf", "--kill-child", "--mount-proc"])
                wait_for(lambda: self.output.read_text() == "begun\n", "the program")
                init = int(pathlib.Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text())
                recorder = int(pathlib.Path(f"/proc/{init}/task/{init}/children").read_text().split()[0])
                # The output appears before its record is published. The record is published by the program's next call.
                wait_for(lambda: "sleep" in names_of_children(recorder), "its next call")
                os.kill(recorder if number == signal.SIGKILL else init, number)
                self.assertEqual(outer.wait(LIMIT_SECONDS), 128 + number, self.errors.read_text())
                self.assert_replays(recording, 6 if number == signal.SIGKILL else 128 + number, "begun\n")

    def test_left_behind(self):
        leaves = ["sh", "-c", f"sleep {LONG} & echo hi; exit 3"]
        for rule, said in (("kill", "they are stopped"), ("0.5", "they are stopped 0.5 s after its end")):
            with self.subTest(rule=rule):
                recording = self.next_recording()
                recorded = self.run_here("record", f"--left-behind={rule}", "-o", recording, "--", *leaves)
                self.assertEqual((recorded.returncode, recorded.stdout), (3, "hi\n"), recorded.stderr)
                self.assertRegex(recorded.stderr, rf"still run: \d+ \w+; {said} \(--left-behind\)\n\Z")
                self.assert_replays(recording, 3, "hi\n")
        recording = self.next_recording()
        recorded = self.run_here("record", "--left-behind=wait", "-o", recording, "--", "sh", "-c",
                                 "(sleep 3; echo late) & exit 3")
        self.assertEqual((recorded.returncode, recorded.stdout), (3, "late\n"), recorded.stderr)
        self.assertIn("the recording continues until they end", recorded.stderr)
        self.assert_replays(recording, 3, "late\n")
        for text in ("never", "", "-1", "1e99", "nan", "5s"):
            refused = self.run_here("record", f"--left-behind={text}", "-o", self.next_recording(), "--", "true")
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), text)

    def test_left_behind_ends_at_a_signal(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number.name):
                recording = self.next_recording()
                # setsid: a signal to the group does not reach the process that is left behind.
                recorder = self.start("--left-behind=wait", "-o", recording, "--", "sh", "-c",
                                      f"setsid sleep {LONG} & echo hi; exit 3")
                wait_for(lambda: "still run" in self.errors.read_text(), "the message")
                os.kill(recorder.pid, number)
                self.assertEqual(recorder.wait(LIMIT_SECONDS), 128 + number, self.errors.read_text())
                self.assert_replays(recording, 3, "hi\n")

    def send(self, recorder, number, to_group):
        (os.killpg if to_group else os.kill)(recorder.pid, number)

    def test_program_takes_a_request_once(self):
        counts = self.compiled("counts", COUNTS)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            for to_group in (False, True):
                with self.subTest(signal=number.name, to_group=to_group):
                    recording = self.next_recording()
                    recorder = self.start("-o", recording, "--", counts)
                    wait_for(lambda: self.output.read_text() == "ready\n", "the program")
                    self.send(recorder, number, to_group)
                    self.assertEqual(recorder.wait(LIMIT_SECONDS), 0, self.errors.read_text())
                    self.assertEqual(self.output.read_text(), "ready\ntaken 1\n")
                    self.assert_replays(recording, 0, "ready\ntaken 1\n")

    def test_a_recording_under_way_can_be_looked_at(self):
        recording = self.next_recording()
        recorder = self.start("-o", recording, "--", "sh", "-c", f"echo begun; exec sleep {LONG}")
        wait_for(lambda: self.output.read_text() == "begun\n", "the program")
        time.sleep(0.5)  # until the recorder has written the records so far
        for verb, statuses in (("dump", (0, 6)), ("ps", (0, 6)), ("traceinfo", (0, 6))):
            shown = self.run_here(verb, recording)
            self.assertIn(shown.returncode, statuses, shown.stderr)
            self.assertNotEqual(shown.stdout, "", verb)
        recorder.send_signal(signal.SIGTERM)
        recorder.wait(LIMIT_SECONDS)

    def test_requests_at_random_instants(self):
        for instant in range(self.arguments.instants):
            number = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[instant % 3]
            to_group = self.random.random() < 0.5
            with self.subTest(instant=instant, signal=number.name, to_group=to_group):
                recording = self.next_recording()
                # exec, because a shell that gets an interrupt alone waits until its command ends.
                command = f"echo a; sleep 0.05; echo b; exec sleep {LONG}"
                recorder = self.start("-o", recording, "--", "sh", "-c", command)
                time.sleep(self.random.uniform(0, 0.2))
                self.send(recorder, number, to_group)
                status = recorder.wait(LIMIT_SECONDS)
                self.assertIn(status, (128 + number, -number), self.errors.read_text())  # -number: not yet handled
                if status > 0 and "there is no recording" not in self.errors.read_text() and recording.exists():
                    self.assert_replays(recording, status, self.output.read_text())

    def test_one_request_ends_until_fail(self):
        for instant in range(self.arguments.instants):
            number = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[instant % 3]
            to_group = self.random.random() < 0.5
            with self.subTest(instant=instant, signal=number.name, to_group=to_group):
                recording = self.next_recording()
                recorder = self.start("--until-fail", "1000", "-o", recording, "--", "sh", "-c", "echo a; sleep 0.02")
                wait_for(lambda: self.output.read_text(), "the first run")
                time.sleep(self.random.uniform(0, 0.2))
                self.send(recorder, number, to_group)
                self.assertEqual(recorder.wait(LIMIT_SECONDS), 128 + number, self.errors.read_text())
                self.assertNotIn(" failed; its", self.errors.read_text())
                if recording.exists():
                    replayed = self.run_here("replay", recording)
                    self.assertIn(replayed.returncode, (0, 128 + number), replayed.stderr)

    def processors_of(self, recorder):
        """Returns the processors that the recorded program may use."""
        children = pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()
        return {cpu for child in children for cpu in os.sched_getaffinity(int(child))}

    def test_side_by_side(self):
        """Each recording takes a processor that no other recording uses, if there is one, with any seed."""
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("there is one processor only")
        apart = False
        for _ in range(20):
            recorders = []
            for name in ("a", "b"):
                recorders.append(self.start("--seed", "1", "-o", self.next_recording(), "--", "sh", "-c",
                                            f"echo {name}; exec sleep {LONG}"))
                wait_for(lambda expected=name: self.output.read_text() == expected + "\n", "the program")
            taken = [self.processors_of(recorder) for recorder in recorders]
            for recorder in recorders:
                recorder.terminate()
                self.assertEqual(recorder.wait(LIMIT_SECONDS), 128 + signal.SIGTERM)
            self.assertEqual([len(one) for one in taken], [1, 1])
            apart = apart or taken[0] != taken[1]
            if apart:
                break
        self.assertTrue(apart)  # tried repeatedly, because other recordings may occupy all processors for a while

    def test_runs_of_until_fail_have_the_same_processors(self):
        """The recorder avoids the program's processor. The next run must not mistake this for the user's affinity."""
        recording = self.next_recording()
        recorded = self.run_here("record", "--until-fail", "3", "-o", recording, "--", "nproc")
        self.assertEqual(recorded.stdout, f"{len(os.sched_getaffinity(0))}\n" * 3)

    def test_a_dead_guard_changes_nothing(self):
        recording = self.next_recording()
        recorder = self.start("-o", recording, "--", "sh", "-c", "echo begun; sleep 0.5; exit 3")
        wait_for(lambda: self.output.read_text() == "begun\n", "the program")
        guards = guards_of(recorder.pid)
        self.assertEqual(len(guards), 1)
        os.kill(int(guards[0]), signal.SIGKILL)
        self.assertEqual(recorder.wait(LIMIT_SECONDS), 3, self.errors.read_text())
        self.assert_replays(recording, 3, "begun\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--instants", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("REWEAVE_TEST_SEED", "1")))
    Lifecycle.arguments, rest = parser.parse_known_args()
    Lifecycle.arguments.build = Lifecycle.arguments.build.resolve()
    print("seed", Lifecycle.arguments.seed, flush=True)
    # nohup(1) and shells ignore some of these signals for background jobs, and programs inherit that.
    for each in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(each, signal.default_int_handler if each == signal.SIGINT else signal.SIG_DFL)
    unittest.main(argv=["lifecycle_check.py", *rest])
