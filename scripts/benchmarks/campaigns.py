"""Measures the cost of making a campaign's units separately, and of merging 10,000 of them."""
import ctypes
import ctypes.util
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import time

from benchmarks.common import REWEAVE, Bench, Failed, run, spread, tree_bytes

# A search finds nothing in this program, and its runs take hardly any time.
CORRECT = """
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void* add(void* none) {
  for (int i = 0; i < 20; i++) { pthread_mutex_lock(&m); count++; pthread_mutex_unlock(&m); }
  return none;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, add, 0); pthread_create(&b, 0, add, 0);
  pthread_join(a, 0); pthread_join(b, 0);
  return count != 40;
}
"""
# Loses an update under some schedules.
BUGGY = CORRECT.replace("pthread_mutex_lock(&m); count++; pthread_mutex_unlock(&m);", "int seen = count; count = seen + 1;")
UNITS = 4


def processor_seconds():
    """Returns the processor time of all children so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def hash_of(line):
    """Returns the 64-bit XXH3 hash by which a campaign's files are named."""
    library = ctypes.CDLL(ctypes.util.find_library("xxhash"))
    library.XXH3_64bits.restype = ctypes.c_uint64
    return f"{library.XXH3_64bits(line, ctypes.c_size_t(len(line))):016x}"


class CampaignBench(Bench):
    def show(self):
        self.workers()
        self.operations()
        for units in (10, 1_000, 10_000):
            self.merge(int(self.scaled(units)))

    def recording(self, name, source):
        path = self.folder / f"{name}.recording"
        if not path.exists():
            program = self.folder / name
            subprocess.run(["cc", "-x", "c", "-", "-g", "-O1", "-fsanitize=thread", "-pthread", "-o", program],
                           input=source, text=True, check=True)
            run([REWEAVE, "record", "-o", path, "--", program])
        return path

    def new(self, name, recording, units, runs, strategy="pos"):
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        run([REWEAVE, "campaign", "new", path, recording, "--units", units, "--runs", runs, "--strategy", strategy])
        return path

    def measured(self, command):
        """Seconds of wall time and of processors."""
        before = processor_seconds()
        return run(command)[0], processor_seconds() - before

    def workers(self):
        """Compares the same runs made by one command and by campaigns with one worker and with two, in turns."""
        runs = int(self.scaled(4000))
        recording = self.recording("correct", CORRECT)
        rows = {}
        for turn in range(self.runs):
            shutil.rmtree(self.folder / "found", ignore_errors=True)
            plain = [REWEAVE, "explore", recording, "-o", self.folder / "found", "--runs", UNITS * runs, "--strategy", "pos"]
            for name, command in (("explore -j 1", [*plain, "-j", 1]),
                                  ("campaign, 1 worker", self.campaign_run(turn, recording, runs, 1)),
                                  ("campaign, 2 workers", self.campaign_run(turn, recording, runs, 2)),
                                  ("explore -j 2", [*plain, "-j", 2])):
                shutil.rmtree(self.folder / "found", ignore_errors=True)
                wall, processors = self.measured(command)
                rows.setdefault(name, []).append((wall, processors))
        print(f"\n{UNITS} units of {runs} runs, load {os.getloadavg()[0]:.1f}")
        for name, values in rows.items():
            print(f"  {name:<22}wall {spread([wall for wall, _ in values]):<32} processors {spread([cpu for _, cpu in values])}")
        def ratio(first, second, which):
            return statistics.median(a[which] / b[which] for a, b in zip(rows[first], rows[second]))
        print(f"  two workers are {ratio('campaign, 1 worker', 'campaign, 2 workers', 0):.2f} times one by wall time; a campaign "
              f"takes {ratio('campaign, 2 workers', 'explore -j 2', 1):.3f} of the processor time of explore -j 2, and "
              f"{ratio('campaign, 2 workers', 'explore -j 2', 0):.3f} of its wall time")

    def campaign_run(self, turn, recording, runs, jobs):
        path = self.new(f"campaign-{turn}-{jobs}", recording, UNITS, runs)
        return [REWEAVE, "campaign", "run", path, "--jobs", jobs]

    def operations(self):
        """Prints how many operations one unit makes on the campaign's folder, as strace counts them, and their bytes."""
        path = self.new("operations", self.recording("buggy", BUGGY), 2, 1000, "auto")
        log = self.folder / "strace"
        command = ["strace", "-y", "-o", log, REWEAVE, "explore", "--campaign", path, "--unit", "1"]
        try:
            run(command)
        except (Failed, OSError) as problem:
            print(f"\noperations: not counted: {problem}")
            return
        counts, folder = {}, str(path)
        for line in log.read_text(errors="replace").splitlines():
            call = re.match(r"(\w+)\(", line)
            if call and folder in line:
                counts[call[1]] = counts.get(call[1], 0) + 1
        [result] = (path / "units").glob("*/*")
        print(f"\na unit of 1000 runs: {sum(counts.values())} operations on the campaign's folder by its own process "
              f"({', '.join(f'{name} {count}' for name, count in sorted(counts.items()))})")
        print(f"  its result has {result.stat().st_size} bytes; the recording, which its processes read besides, "
              f"{tree_bytes(path / 'cases')}")

    def merge(self, units):
        """Measures the real merge on synthetic results: those of a few real units, repeated under other numbers."""
        path = self.new("synthetic", self.recording("buggy", BUGGY), units, 200, "auto")
        real = []
        for unit in range(min(units, 8)):
            run([REWEAVE, "explore", "--campaign", path, "--unit", unit])
        for file in sorted((path / "units").glob("*/*")):
            line, _, tail = file.read_text().partition("\n")
            real.append((json.loads(line), tail))
        for unit in range(len(real), units):
            result, tail = real[unit % len(real)]
            line = json.dumps({**result, "unit": unit}, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()
            shard = path / "units" / f"{unit // 1000:05}"
            shard.mkdir(exist_ok=True)
            (shard / f"{unit:08}-{hash_of(line)}.json").write_bytes(line + b"\n" + tail.encode())
        start = time.perf_counter()
        seconds, text = run([REWEAVE, "campaign", "merge", path], accept=(10,), output=subprocess.PIPE)
        status = run([REWEAVE, "campaign", "status", path])[0]
        print(f"\nmerge of {units} units, {tree_bytes(path / 'units') / 1e6:.1f} MB: {seconds:.1f} s wall "
              f"({time.perf_counter() - start:.1f} s with status, {status:.2f} s): {text.splitlines()[0]}")
