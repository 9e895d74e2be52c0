#!/usr/bin/env python3
"""Records programs of tests/programs/subjects.json here, and replays the recordings on another machine: Debian's
kernel in QEMU, which emulates the processor. That machine has only reweave, the recordings, and the files that the
programs mapped. Compares exit status and standard output.

    other_machine_check.py --build BUILD [--processor x86-64-v3] [--cpu max]... [NAME...]

Names are as for replay_check.py; without names, takes all programs. Needs qemu-system-x86, linux-image-amd64 and
busybox-static, and takes minutes for a hundred programs and each --cpu.
"""
import argparse
import glob
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "programs"
RECORD_SECONDS, REPLAY_SECONDS = 60, 200
# alignment_check also fails natively in QEMU, whose emulated processor does not raise this fault. The program
# signal_own_steps executes a cpuid and uses no result of it, so recordings do not have its answer.
# signal_int1 executes int1, which qemu takes for a request to stop the machine.
LEFT_OUT = ("alignment_check", "signal_int1", "signal_own_steps")

# The root is in memory and writable. Nothing is mounted on /tmp, where the recorded programs may be.
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin LD_LIBRARY_PATH=/reweave/libraries
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts; mount -t tmpfs shm /dev/shm; mount -t devpts pts /dev/pts
ip link set lo up
ulimit -c 0
echo
for recording in /recordings/*; do
  timeout -s KILL %d /reweave/reweave replay $recording >/tmp/out 2>/tmp/err </dev/null
  echo "RESULT ${recording##*/} $? $(md5sum </tmp/out | cut -c1-32) $(grep -a -m1 -i reweave: /tmp/err | head -c 300)"
done
echo "ALL DONE"
poweroff -f
""" % REPLAY_SECONDS


def run(command, **options):
    return subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE, **options).stdout


def record(arguments, subject, folder):
    """Records a run. Returns its exit status and the hash of its standard output, or None if it took too long."""
    program = arguments.build / "tests/programs/plain" / subject["name"]
    command = [arguments.build / "reweave", "record", "-o", folder]
    command += ["--processor", arguments.processor] if arguments.processor else []
    try:
        done = subprocess.run([*command, "--", program, *subject["argv"]], input=subject["stdin"].encode(),
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=RECORD_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    md5 = run(["md5sum"], input=done.stdout).decode()[:32]
    return done.returncode, md5


def copy(path, root):
    to = root / path.relative_to("/")
    if path.is_file() and not to.exists():
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, to)


def mapped_files(arguments, recording):
    dump = run([arguments.build / "reweave", "dump", recording]).decode(errors="replace")
    return {pathlib.Path(path) for path in re.findall(r"^ *\d+ t\d+ map (/\S+) at ", dump, re.MULTILINE)}


def make_root(arguments, root, recordings):
    home = root / "reweave"
    (home / "recorder").mkdir(parents=True)
    (home / "libraries").mkdir()
    for name in ("proc", "sys", "dev", "tmp", "bin"):
        (root / name).mkdir(exist_ok=True)
    shutil.copy(arguments.build / "reweave", home)
    for name in ("reweave-core", "libreweave.so", "libreweave-tsan.so"):
        shutil.copy(arguments.build / "recorder" / name, home / "recorder")
    for library in re.findall(r"=> (/\S+)", run(["ldd", arguments.build / "reweave"]).decode()):
        shutil.copy(library, home / "libraries")
    copy(pathlib.Path("/lib64/ld-linux-x86-64.so.2"), root)
    shutil.copy("/bin/busybox", root / "bin")
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    for recording in recordings:
        for path in mapped_files(arguments, recording):
            if not path.is_relative_to(arguments.folder):
                copy(path, root)


def boot(arguments, cpu, image):
    """Boots the machine. Yields the lines that it prints, as they arrive."""
    command = ["timeout", str(arguments.limit), "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", cpu,
               "-m", "6144", "-smp", "2", "-kernel", arguments.kernel, "-initrd", str(image),
               "-append", "console=ttyS0 quiet panic=-1", "-nographic", "-no-reboot"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace") as qemu:
        yield from (line.rstrip() for line in qemu.stdout)


def compare(cpu, lines, expected):
    """Prints the differences and returns their number."""
    left, failures, ended = dict(expected), 0, False
    for line in lines:
        ended = ended or line == "ALL DONE"
        match = re.match(r"RESULT (\S+) (\d+) ([0-9a-f]{32}) ?(.*)$", line)
        if not match:
            continue
        name, status, md5, text = match[1], int(match[2]), match[3], match[4]
        recorded_status, recorded_md5 = left.pop(name)
        if (status, md5) == (recorded_status, recorded_md5):
            continue
        failures += 1
        what = "standard output differs" if status == recorded_status else f"status {recorded_status} became {status}"
        print(f"FAILED {name} on {cpu}: {what} {text}", flush=True)
    if left or not ended:
        print(f"FAILED on {cpu}: the machine ended before {' '.join(left)}")
        failures += 1
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--processor", default="x86-64-v3", help="of reweave record; empty: none")
    parser.add_argument("--cpu", action="append", help="QEMU's name of a processor (max)")
    parser.add_argument("--kernel", default=max(glob.glob("/boot/vmlinuz-*"), default=""))
    parser.add_argument("--limit", type=int, default=3000, help="seconds for each --cpu")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    names = arguments.names or ["all"]
    subjects = [row for row in json.loads((PROGRAMS / "subjects.json").read_text())
                if (row["name"] in names or row["kind"] in names or "all" in names)
                and row.get("outcome") != "hang" and row["name"] not in LEFT_OUT]
    arguments.folder = pathlib.Path(tempfile.mkdtemp(prefix="reweave-other-"))
    try:
        root = arguments.folder / "root"
        expected = {}
        (root / "recordings").mkdir(parents=True)
        for subject in subjects:
            done = record(arguments, subject, root / "recordings" / subject["name"])
            if done is None:
                shutil.rmtree(root / "recordings" / subject["name"])  # it did not end in time
            else:
                expected[subject["name"]] = done
        make_root(arguments, root, [root / "recordings" / name for name in expected])
        image = arguments.folder / "initrd"
        archive = run(["sh", "-c", "find . | cpio -o -H newc 2>/dev/null"], cwd=root)
        image.write_bytes(gzip.compress(archive, compresslevel=1))
        failures = 0
        for cpu in arguments.cpu or ["max"]:
            start = time.monotonic()
            failures += compare(cpu, boot(arguments, cpu, image), expected)
            print(f"{len(expected)} programs on {cpu}, {time.monotonic() - start:.0f} s", flush=True)
    finally:
        shutil.rmtree(arguments.folder, ignore_errors=True)
    print(f"{failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
