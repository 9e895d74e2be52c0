#!/usr/bin/env python3
"""Records stressors of stress-ng(1), replays each recording, and compares exit statuses and standard output.

    stress_check.py --build BUILD [--operations N] [--chaos] [STRESSOR...]

Without names, runs all stressors except for those that change the machine or need too much of it. Prints a line for
each stressor that differs natively, recorded and replayed, and the number of those that agree. Takes minutes, as root:
each stressor exercises a part of the kernel, errors included.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

LIMIT_SECONDS = 60
LEFT_OUT = """apparmor bad-ioctl bigheap binderfs cpu-online dev forkheavy hdd iomix klog loop mlockmany module
netlink-proc oom-pipe pagemove physpage priv-instr ramfs rawdev rawpkt reboot resources smi softlockup stackmmap swap
sysinval tun umount usersyscall vm-splice watchdog x86syscall zombie""".split()
# Expected statuses, recorded and replayed. Reweave reports the device of kvm and the calls of aiol as missing.
KNOWN = {"kvm": (2, 2), "aiol": (3, 3)}


def run(command, folder):
    """Returns exit status and standard output. The status is None for a hang."""
    try:
        ran = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_SECONDS,
                             start_new_session=True)
    except subprocess.TimeoutExpired:
        return None, b""
    return ran.returncode, ran.stdout


def check(arguments, stressor):
    """Returns the difference, or None."""
    with tempfile.TemporaryDirectory() as folder:
        work = ["stress-ng", f"--{stressor}", "1", f"--{stressor}-ops", str(arguments.operations), "-t", "4",
                "--temp-path", folder, "--no-rand-seed"]
        recording = pathlib.Path(folder) / "recording"
        native, _ = run(work, folder)
        recorded = run([arguments.reweave, "record", *(["--chaos"] if arguments.chaos else []), "-o", recording, "--",
                        *work], folder)
        replayed = run([arguments.reweave, "replay", recording], folder)
    expected = KNOWN.get(stressor, (native, native))
    if native is None or ((recorded[0], replayed[0]) == expected and recorded[1] == replayed[1]):
        return None
    if recorded == replayed and recorded[0] == 0:
        return None  # the native run had nothing to do
    return f"{stressor}: natively {native}, recorded {recorded[0]}, replayed {replayed[0]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--operations", type=int, default=10)
    parser.add_argument("--chaos", action="store_true")
    parser.add_argument("stressors", nargs="*")
    arguments = parser.parse_args()
    arguments.reweave = (arguments.build / "reweave").resolve()
    known = subprocess.run(["stress-ng", "--stressors"], capture_output=True, text=True, check=True).stdout.split()
    stressors = arguments.stressors or [name for name in known if name not in LEFT_OUT]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for problem in pool.map(lambda name: check(arguments, name), stressors):
            if problem is not None:
                failed += 1
                print(problem, flush=True)
    print(f"{len(stressors) - failed} of {len(stressors)} the same")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
