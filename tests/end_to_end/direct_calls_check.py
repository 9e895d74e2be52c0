#!/usr/bin/env python3
"""A program's calls of lock functions jump directly to the shim, however it is linked, unless a library interposes.

A program that locks is built in several ways. While it is recorded, its linkage table must jump into the shim, and
replays must agree, also under gdb. A library of the user's that precedes the shim still gets its calls, and a function
that the program defines itself is not redirected.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from counting_stubs_check import loaded_code, memory, run

PROGRAM = r"""
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long turns;
extern const char __executable_start[], etext[];

#ifdef OWN_TRYLOCK
int pthread_mutex_trylock(pthread_mutex_t* given) {
  (void)given;
  return 77;
}
#endif

static void* count(void* unused) {
  (void)unused;
  for (int i = 0; i < 1000; i++) {
    pthread_mutex_lock(&mutex);
    turns++;
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, count, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("turns %ld trylock %d\n", turns, pthread_mutex_trylock(&mutex));
  printf("look %d %p %p\n", getpid(), (void*)__executable_start, (void*)etext);
  fflush(stdout);
  char line[8];
  return fgets(line, sizeof line, stdin) != NULL ? 0 : 4;
}
"""
INTERPOSER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static long locked;
int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static int (*behind)(pthread_mutex_t*);
  if (behind == NULL) behind = (int (*)(pthread_mutex_t*))dlsym(RTLD_NEXT, "pthread_mutex_lock");
  const int result = behind(mutex);
  locked++;
  return result;
}
__attribute__((destructor)) static void tell(void) {
  printf("interposed %d\n", locked >= 2000);
  fflush(stdout);
}
"""
# Per form: the options that link it, and the number of its linkage table entries that jump into the shim
# (pthread_create, _join, _mutex_lock, _unlock and _trylock).
FORMS = {
    "position-independent": (["-pie", "-fPIE"], 5),
    "fixed address": (["-no-pie", "-fno-pie"], 5),
    "bound at start": (["-pie", "-fPIE", "-Wl,-z,now"], 5),
    "branch targets marked": (["-pie", "-fPIE", "-fcf-protection=full", "-Wl,-z,ibtplt"], 5),
    "another linker": (["-pie", "-fPIE", "-fuse-ld=gold"], 5),
    "without linkage table": (["-pie", "-fPIE", "-fno-plt"], 0),
    "own function": (["-pie", "-fPIE", "-rdynamic", "-DOWN_TRYLOCK"], 4),
    "interposed": (["-pie", "-fPIE"], 0),
}
JUMP, BYTES = 0xE9, 5


def compiled(folder, name, text, *flags):
    source, output = folder / f"{name}.c", folder / name
    source.write_text(text)
    run("gcc", "-O2", "-g", source, "-o", output, *flags, check=True)
    return output


def shims_of(pid):
    """Returns the range of addresses at which the shim is mapped."""
    lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    ends = [int(word, 16) for line in lines if line.endswith("/libreweave.so") for word in line.split()[0].split("-")]
    return range(min(ends), max(ends))


def direct_jumps(program, pid, start, end):
    """Counts jumps into the shim at places where the program's file has other code."""
    shim, found = shims_of(pid), 0
    file, code = loaded_code(program), memory(pid, start, end)
    for at in range(len(code) - BYTES):
        distance = int.from_bytes(code[at + 1:at + BYTES], "little", signed=True)
        found += code[at] == JUMP and file[at] != JUMP and start + at + BYTES + distance in shim
    return found


def record(reweave, recording, program, preloaded):
    """Records a run. Returns its output and the number of its direct jumps into the shim."""
    setting = ["env", f"LD_PRELOAD={preloaded}"] if preloaded else []
    command = [reweave, "record", "--checksums", "-o", recording, "--", *setting, program]
    target = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    printed = target.stdout.readline() + target.stdout.readline()
    pid, *places = re.fullmatch(r".*\nlook (\d+) (\S+) (\S+)\n", printed).groups()
    jumps = direct_jumps(program, int(pid), *(int(place, 16) for place in places))
    printed += target.communicate("go on\n", timeout=600)[0]
    if target.returncode != 0:
        raise RuntimeError(f"recording ended with {target.returncode}")
    return printed, jumps


def problems_of(reweave, folder, form, flags, wanted):
    program = compiled(folder, "program", PROGRAM, *flags, "-pthread")
    preloaded = compiled(folder, "interposer", INTERPOSER, "-shared", "-fPIC") if form == "interposed" else None
    recording = folder / "recording"
    printed, jumps = record(reweave, recording, program, preloaded)
    trylock = 77 if form == "own function" else 0
    if not printed.startswith(f"turns 2000 trylock {trylock}\n") or ("interposed 1" in printed) != bool(preloaded):
        yield f"{form}: printed {printed}"
    if jumps != wanted:
        yield f"{form}: {jumps} entries lead into the shim at once, not {wanted}"
    done = run(reweave, "replay", "--check", recording)
    if done.returncode != 0 or done.stdout != printed:
        yield f"{form}: the replay ended with {done.returncode}: {done.stdout!r}, not {printed!r}; {done.stderr}"
    done = run(reweave, "replay", "-g", "end", "--gdb-batch", "bt", recording, stdin=subprocess.DEVNULL)
    if done.returncode != 0 or "exit" not in done.stdout:
        yield f"{form}: under gdb the replay ended with {done.returncode}: {done.stdout} {done.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    reweave = parser.parse_args().build / "reweave"
    found = []
    for form, (flags, wanted) in FORMS.items():
        with tempfile.TemporaryDirectory(prefix="reweave-direct-") as folder:
            found += problems_of(reweave, pathlib.Path(folder), form, flags, wanted)
    print("\n".join(found) or f"{len(FORMS)} forms of programs call as they should")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
