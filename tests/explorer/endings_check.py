#!/usr/bin/env python3
"""Tests which endings of a run are failures, and the message of a campaign that could not examine its runs."""
import subprocess

from checking import demand, main

COUNTS = r"""
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void* add(void* arg) {
  pthread_mutex_lock(&mutex);
  count++;
  pthread_mutex_unlock(&mutex);
  return arg;
}
int main(int argc, char** argv) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, add, NULL);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  if (argc > 1) raise(atoi(argv[1]));
  return count;
}
"""


def build(at, name, *flags):
    source = at.folder / "counts.c"
    source.write_text(COUNTS)
    program = at.folder / name
    subprocess.run(["gcc", "-g", "-O1", "-pthread", *flags, source, "-o", program], check=True)
    return program


def check_statuses(at):
    """The recorded status is normal unless the command line names others. A signal is normal only if it is named there."""
    program = build(at, "counts-tsan", "-fsanitize=thread")
    at.reweave("record", "-o", at.folder / "status", "--", program, accept=(3,))
    at.reweave("record", "-o", at.folder / "signal", "--", program, 15, accept=(143,))
    campaigns = 0

    def explore(recording, status, *options):
        nonlocal campaigns
        campaigns += 1
        return at.reweave("explore", at.folder / recording, "--runs", 20, *options, "-o",
                          at.folder / f"found-{campaigns}", accept=(status,))

    text = explore("status", 0)
    demand("taken as normal: exit status 3, as recorded" in text, "the recorded status is not named", text)
    text = explore("status", 10, "--expect-status", 0)
    demand("failure-1: exit status 3" in text, "an unexpected status is no failure", text)
    text = explore("status", 10, "--expect-status", "0,4")
    demand("1 distinct failure" in text, "an unexpected status is no failure", text)
    explore("status", 0, "--expect-status", "0,3")
    text = explore("signal", 10)
    demand("killed by signal 15" in text, "a signal is no failure", text)
    explore("signal", 0, "--expect-status", "SIGTERM")
    explore("signal", 0, "--expect-status", "0,TERM")
    for wrong in ("256", "-1", "SIGNOTHING", "1,", "x"):
        text = explore("status", 2, "--expect-status", wrong)
        demand("neither an exit status" in text, f"{wrong} is not refused", text)


def check_grain(at):
    """A plain build is searched between its calls only, and the summary reports that."""
    program = build(at, "counts-plain")
    at.reweave("record", "-o", at.folder / "plain", "--", program, accept=(3,))
    text = at.reweave("explore", at.folder / "plain", "--runs", 20, "-o", at.folder / "plain-found")
    demand("memory accesses were not schedule points" in text, "the grain is not said", text)
    text = at.reweave("explore", at.folder / "status", "--runs", 20, "-o", at.folder / "tsan-found")
    demand("memory accesses were not schedule points" not in text, "accesses were schedule points", text)


def check_nothing_examined(at):
    """A campaign without runs does not end as if it had passed."""
    text = at.reweave("explore", at.folder / "status", "--runs", 0, "-o", at.folder / "none", accept=(11,))
    demand("no run could be examined" in text, "the summary does not say so", text)


def check(at):
    check_statuses(at)
    check_grain(at)
    check_nothing_examined(at)


if __name__ == "__main__":
    raise SystemExit(main(check, __doc__))
