#!/usr/bin/env python3
"""A use after free in the shutdown of a pipeline is found, and nothing in its correct twin.

    pbzip2_check.py --build BUILD [--fetch]

Without --fetch, the programs are tests/programs/shutdown_use_after_free.c and shutdown_ok.c. With it, they are pbzip2
from Debian's source, instrumented: as it is, and with the bug of its old shutdown. pbzip2_shutdown.patch restores the
bug: it removes the join of the consumers, so that the main thread frees the queue while they may still use it. `auto`
should find the bug within thirty runs, including the recording. The source comes from $REWEAVE_SOURCES if that has the
.orig.tar.gz, otherwise from apt's archive, with source packages enabled for this download only.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FLAGS = ["-w", "-g", "-O1", "-fsanitize=thread", "-pthread", "-D_POSIX_PTHREAD_SEMANTICS", "-D_LARGEFILE64_SOURCE",
         "-D_FILE_OFFSET_BITS=64", "-DUSE_STACKSIZE_CUSTOMIZATION"]
ARCHIVE = "pbzip2_*.orig.tar.gz"


def run(command, accept=(0,), **options):
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=1500, **options)
    if done.returncode not in accept:
        sys.exit(f"status {done.returncode} of {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def source_entries():
    """Returns the system's apt source lists by file name, changed to source packages."""
    parts = {}
    for path in [pathlib.Path("/etc/apt/sources.list"), *pathlib.Path("/etc/apt/sources.list.d").glob("*")]:
        if path.suffix not in (".list", ".sources") or not path.is_file():
            continue
        text = path.read_text()
        wanted = (re.sub(r"(?m)^Types:.*", "Types: deb-src", text) if path.suffix == ".sources"
                  else re.sub(r"(?m)^deb ", "deb-src ", text))
        parts[path.name] = wanted
    return parts


def fetch(folder, package="pbzip2", archive=ARCHIVE):
    """Returns the path of the package's source archive, or None if apt cannot get it."""
    given = os.environ.get("REWEAVE_SOURCES")
    if given and (found := sorted(pathlib.Path(given).glob(archive))):
        return found[-1]
    for name in ("parts", "lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    for name, text in source_entries().items():
        (folder / "parts" / name).write_text(text)
    apt = ["apt-get", "-qq", "-o", "Dir::Etc::SourceList=/dev/null", "-o", f"Dir::Etc::SourceParts={folder}/parts", "-o",
           f"Dir::State::Lists={folder}/lists", "-o", f"Dir::Cache={folder}/cache", "-o", "APT::Sandbox::User=",
           "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20"]
    for step in (["update"], ["source", "--download-only", package]):
        try:
            done = subprocess.run([*apt, *step], cwd=folder, capture_output=True, text=True, timeout=600,
                                  stdin=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired) as problem:
            print(f"apt-get {step[0]}: {problem}")
            return None
        if done.returncode != 0:
            print(f"apt-get {step[0]}: {done.stderr.strip()[:300]}")
            break  # perhaps only Debian's part of the source is missing
    return next(folder.glob(archive), None)


def build(archive, folder, patch):
    folder.mkdir()
    run(["tar", "xf", archive, "-C", folder, "--strip-components=1"])
    if patch:
        run(["patch", "-p1", "-i", patch], cwd=folder)
    program = folder / "pbzip2.tsan"
    run(["g++", *FLAGS, "pbzip2.cpp", "BZ2StreamScanner.cpp", "ErrorContext.cpp", "-o", program, "-lbz2"], cwd=folder)
    return program


def explore(reweave, folder, command, options):
    recording, found = folder / "recording", folder / "found"
    run([reweave, "record", "--seed", "1", "-o", recording, "--", *command], accept=range(256))
    return run([reweave, "explore", recording, "-o", found, *options], accept=(0, 10))


def check(reweave, folder, buggy, correct, runs):
    for name in ("buggy", "correct"):
        (folder / name).mkdir()
    text = explore(reweave, folder / "buggy", buggy,
                   ["--runs", runs, "--first", "--verify", 5, "--minimise", 100])
    found = re.search(r"failure-1: use after free.*\n  found by .* in run (\d+), .*, 5 of 5 replays", text)
    if not found:
        sys.exit(f"the bug was not found within {runs} runs:\n{text}")
    print(f"found in run {int(found[1]) + 1}")
    text = explore(reweave, folder / "correct", correct, ["--runs", 100])
    if not re.search(r" 0 left the recording, 0 distinct failures", text):
        sys.exit(f"the correct program:\n{text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--fetch", action="store_true", help="the real program, whose source apt downloads")
    arguments = parser.parse_args()
    reweave = arguments.build / "reweave"
    with tempfile.TemporaryDirectory(prefix="reweave-pbzip2-") as name:
        folder = pathlib.Path(name)
        if not arguments.fetch:
            programs = arguments.build / "tests" / "programs" / "tsan"
            check(reweave, folder, [programs / "shutdown_use_after_free.tsan"], [programs / "shutdown_ok.tsan"], 300)
            return 0
        archive = fetch(folder)
        if archive is None:
            sys.exit("the source of pbzip2 cannot be downloaded here")
        print(f"source: {archive.name}")
        data = folder / "in.txt"
        data.write_text("".join(f"{i}\n" for i in range(60_000)))
        options = ["-k", "-f", "-p3", "-b1", "-q", data]
        check(reweave, folder, [build(archive, folder / "patched", HERE / "pbzip2_shutdown.patch"), *options],
              [build(archive, folder / "plain", None), *options], 29)
    return 0


if __name__ == "__main__":
    sys.exit(main())
