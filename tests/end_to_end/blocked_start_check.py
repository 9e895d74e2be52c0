#!/usr/bin/env python3
"""The caller may have blocked signals that the core needs: the program keeps that mask, and the core gets its signals."""
import argparse
import pathlib
import signal
import subprocess
import sys
import tempfile

LIMIT = 600  # seconds
BLOCKED = {signal.SIGSEGV, signal.SIGSYS, signal.SIGTRAP, signal.SIGUSR1}
PROGRAM = ["grep", "SigBlk", "/proc/self/status"]


def run(command):
    return subprocess.run(command, capture_output=True, timeout=LIMIT,
                          preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, BLOCKED))


def check(reweave, recording):
    """Yields a message for each problem."""
    native = run(PROGRAM)
    runs = {"record": run([reweave, "record", "-o", recording, "--", *PROGRAM]),
            "replay": run([reweave, "replay", recording])}
    for name, result in runs.items():
        if (result.returncode, result.stdout) != (0, native.stdout):
            yield f"{name}: status {result.returncode}, {result.stdout} {result.stderr}, natively {native.stdout}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="reweave-blocked-") as folder:
        failures = list(check(arguments.build / "reweave", pathlib.Path(folder) / "recording"))
    for failure in failures:
        print("FAILED", failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
