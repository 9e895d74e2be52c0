#!/usr/bin/env python3
"""The signal that ends a time slice arrives late, when its thread sleeps in the kernel, together with a signal of the
program. The program's signal must still interrupt the sleep. The test sends both while the program is stopped."""
import argparse
import ctypes
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROUNDS = 20
LIMIT = 200  # seconds until an answer
SLICE_OVER = (63, 0x676F647765526557 + 1)  # kWatchdogSignal and kSliceOverValue of recorder/arena.h
LAST = 64  # the program's signal; the kernel delivers the lower number, 63, first
SI_QUEUE = -1
SYS_RT_TGSIGQUEUEINFO = 297

PROGRAM = f"""
import os, signal
signal.signal({LAST}, lambda number, frame: os.write(1, b"s"))
os.write(1, b"r")
while os.read(0, 1) == b"x": pass
"""


def queue_signal(pid, number, value):
    info = struct.pack("iiiixxxxxxxxQ", number, 0, SI_QUEUE, 0, value).ljust(128, b"\0")
    if ctypes.CDLL(None, use_errno=True).syscall(SYS_RT_TGSIGQUEUEINFO, pid, pid, number, info) != 0:
        raise OSError(ctypes.get_errno(), "rt_tgsigqueueinfo")


def state_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def wait_for_state(pid, state):
    end = time.monotonic() + LIMIT
    while state_of(pid) != state:
        if time.monotonic() > end:
            raise TimeoutError(f"process {pid} is not in state {state}")
        time.sleep(0.001)


def answer(process):
    """Returns the next text that the program writes; empty if it writes nothing in time."""
    os.set_blocking(process.stdout.fileno(), False)
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        data = process.stdout.read(1)
        if data is not None:
            return data
        time.sleep(0.001)
    return b""


def target_of(supervisor):
    """Returns the target among the supervisor's children. The guard is also a child."""
    for child in pathlib.Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split():
        if pathlib.Path(f"/proc/{child}/comm").read_text() == "python3\n":
            return int(child)
    raise ChildProcessError("the supervisor has no target")


def check(reweave, recording):
    """Yields a message for each problem."""
    process = subprocess.Popen([reweave, "record", "-o", recording, "--", "python3", "-c", PROGRAM], bufsize=0,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if answer(process) != b"r":
        yield "the program does not start"
    target = target_of(process.pid)
    for number in range(ROUNDS):
        wait_for_state(target, "S")
        os.kill(target, signal.SIGSTOP)
        wait_for_state(target, "T")
        queue_signal(target, *SLICE_OVER)
        queue_signal(target, LAST, 0)
        os.kill(target, signal.SIGCONT)
        if answer(process) != b"s":
            yield f"round {number}: the program slept on"
            process.kill()
            return
    process.stdin.close()
    if process.wait(timeout=LIMIT) != 0:
        yield f"recorded with {process.returncode}"
    replayed = subprocess.run([reweave, "replay", recording], capture_output=True, timeout=LIMIT)
    if (replayed.returncode, replayed.stdout) != (0, b"r" + b"s" * ROUNDS):
        yield f"replayed with {replayed.returncode}: {replayed.stdout} {replayed.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="reweave-late-") as folder:
        failures = list(check(arguments.build / "reweave", pathlib.Path(folder) / "recording"))
    for failure in failures:
        print("FAILED", failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
