#!/usr/bin/env python3
"""Instrumented accesses count in stubs, however the program is linked, and the run is the same with and without stubs.

A program with two threads and a library that it opens late is built in several ways. Recorded, its calls of
__tsan_read8 and the like must have become jumps; replays with stubs, traced and debugged ones without must agree.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile long table[64], turns;
extern const char __executable_start[], etext[];

__attribute__((noinline)) static long mix(long seed) {
  long sum = seed;
  for (int i = 1; i < 64; i++) {
    table[i] = table[i - 1] * 31 + seed;
    sum += table[i];
  }
  return sum;
}

static void* count(void* given) {
  long sum = 0;
  for (int i = 0; i < 500; i++) {
    turns = turns + 1;  // unlocked: the sum depends on the schedule
    sum += mix((long)given + i);
  }
  return (void*)sum;
}

int main(int argc, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) return 3;
  long (*summed)(long) = (long (*)(long))dlsym(library, "summed");
  pthread_t threads[2];
  void* sums[2];
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, count, (void*)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], &sums[i]);
  printf("turns %ld sums %ld %ld library %ld\n", turns, (long)sums[0], (long)sums[1], summed(7));
  printf("look %d %p %p %p\n", getpid(), (void*)__executable_start, (void*)etext, (void*)summed);
  fflush(stdout);
  char line[8];
  return argc > 1 && fgets(line, sizeof line, stdin) != NULL ? 0 : 4;
}
"""
LIBRARY = r"""
static long values[32];
long summed(long seed) {
  long sum = 0;
  for (int i = 0; i < 32; i++) {
    values[i] = seed + i;
    sum += values[i] * values[i / 2];
  }
  return sum;
}
"""
FORMS = {
    "position-independent": ["-pie", "-fPIE"],
    "fixed address": ["-no-pie", "-fno-pie"],
    "bound at start": ["-pie", "-fPIE", "-Wl,-z,now"],
    "without linkage table": ["-pie", "-fPIE", "-fno-plt"],
    "branch targets marked": ["-pie", "-fPIE", "-fcf-protection=full", "-Wl,-z,ibtplt"],
}
FEWEST_SITES = 5  # calls of access functions in mix() and count()
CALL, JUMP = 0xE8, 0xE9


def run(*command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600,
                          errors="replace", **more)


def build(folder, name, flags):
    program, library = folder / name, folder / "late.so"
    for source, text, output, extra in (("program.c", PROGRAM, program, [*flags, "-ldl", "-pthread"]),
                                        ("late.c", LIBRARY, library, ["-shared", "-fPIC"])):
        (folder / source).write_text(text)
        run("gcc", "-O2", "-g", "-fsanitize=thread", folder / source, "-o", output, *extra, check=True)
    return program, library


def memory(pid, start, end):
    with open(f"/proc/{pid}/mem", "rb") as file:
        file.seek(start)
        return file.read(end - start)


def record(reweave, recording, program, library, *options):
    """Records a run. Returns its output, and the patched code of the program and of its library."""
    command = [reweave, "record", *options, "-o", recording, "--", program, library]
    target = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    printed = target.stdout.readline()
    look = target.stdout.readline()
    pid, *places = re.fullmatch(r"look (\d+) (\S+) (\S+) (\S+)\n", look).groups()
    start, end, summed = (int(place, 16) for place in places)
    code = memory(pid, start, end)
    late = memory(pid, summed, summed + 256)
    target.stdin.write("go on\n")
    target.stdin.close()
    if target.wait(timeout=600) != 0:
        raise RuntimeError(f"recording ended with {target.returncode}")
    return printed + look, code, late


def loaded_code(program):
    """Returns the program as the loader puts it into memory: its loadable segments, with zeros between them."""
    sections = run("readelf", "-lW", program, check=True).stdout
    image, file = bytearray(), program.read_bytes()
    base = None
    for offset, address, size in re.findall(r"^  LOAD\s+(0x\w+) (0x\w+) 0x\w+ (0x\w+)", sections, re.M):
        offset, address, size = int(offset, 16), int(address, 16), int(size, 16)
        base = address if base is None else base
        image.extend(bytes(address - base + size - len(image)))
        image[address - base:address - base + size] = file[offset:offset + size]
    return bytes(image)


def problems_of(reweave, folder, form, flags):
    program, library = build(folder, form.replace(" ", "-"), flags)
    recording = folder / "recording"
    for options in ((), ("--chaos", "--seed", "3"), ("--checksums",)):
        run("rm", "-rf", recording)
        printed, code, late = record(reweave, recording, program, library, *options)
        made = sum(old in (CALL, 0xFF) and new == JUMP for old, new in zip(loaded_code(program), code))
        if made < FEWEST_SITES:
            yield f"{form}: {made} calls became jumps"
        if JUMP not in late:
            yield f"{form}: the library's calls were left as they were"
        replay = ["--check"] if "--checksums" in options else []
        done = run(reweave, "replay", *replay, recording)
        if done.returncode != 0 or done.stdout != printed:
            yield f"{form} {options}: the replay ended with {done.returncode}: {done.stderr}"
    done = run(reweave, "replay", "-g", "end", "--gdb-batch", "bt", recording, stdin=subprocess.DEVNULL)
    if done.returncode != 0 or "exit" not in done.stdout:
        yield f"{form}: under gdb the replay ended with {done.returncode}: {done.stdout} {done.stderr}"
    done = run(reweave, "trace", recording)
    if done.returncode != 0:
        yield f"{form}: the traced replay ended with {done.returncode}: {done.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    reweave = parser.parse_args().build / "reweave"
    found = []
    for form, flags in FORMS.items():
        with tempfile.TemporaryDirectory(prefix="reweave-counting-") as folder:
            found += problems_of(reweave, pathlib.Path(folder), form, flags)
    print("\n".join(found) or f"{len(FORMS)} forms of programs count in stubs")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
