"""Measures `reweave suspects`: against the races that runs of the subjects show, on correct programs, and on programs of
Debian with threads."""
import json
import pathlib
import resource
import subprocess
import sys
import time

from benchmarks.common import REWEAVE, ROOT, Bench, Failed
from benchmarks.sleds import BUILDS, FLAGS, Program, build, configured, make

sys.path.insert(0, str(ROOT / "tests" / "explorer"))
from pbzip2_check import fetch

LIMIT = 600  # seconds
PROGRAMS = {
    "pbzip2": Program("pbzip2_*.orig.tar.*", lambda f, cc: make(f, cc, f"CXXFLAGS={FLAGS} -std=gnu++98 -pthread", "pbzip2"),
                      "pbzip2", []),
    "memcached": Program("memcached_*.orig.tar.*", lambda f, cc: configured(f, cc, target="memcached"), "memcached", []),
    "libzstd": Program("libzstd_*.orig.tar.*", lambda f, cc: make(f / "programs", cc, f"CFLAGS={FLAGS}", "HAVE_ZLIB=0",
                                                                  "HAVE_LZMA=0", "HAVE_LZ4=0", "zstd"), "programs/zstd", []),
    "redis": Program("redis_*.orig.tar.*", lambda f, cc: make(f, cc, f"CFLAGS={FLAGS}", "MALLOC=libc", "BUILD_TLS=no"),
                     "src/redis-server", []),
}


def ask(program):
    """The answer as JSON, the seconds, and the peak memory in MB of this and all earlier children."""
    begin = time.monotonic()
    done = subprocess.run([REWEAVE, "suspects", "--json", program], capture_output=True, text=True, timeout=LIMIT,
                          check=False)
    if done.returncode != 0:
        raise Failed(done.stderr.strip()[-200:])
    return json.loads(done.stdout), time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000


def lines_of(pair):
    return tuple(sorted((pathlib.Path(side["file"]).name, side["line"]) for side in (pair["first"], pair["second"])))


class SuspectsBench(Bench):
    def show(self):
        self.subjects()
        print("\nprograms of Debian, built by reweave-cc: lines of C and C++, pairs suspected, pairs that conflict and are not, seconds, MB")
        for name, program in PROGRAMS.items():
            try:
                self.program(name, program)
            except (Failed, subprocess.SubprocessError, OSError) as problem:
                print(f"  {name} failed: {problem}")

    def program(self, name, program):
        place = self.folder / name
        place.mkdir()
        archive = fetch(place, name, program.archive)
        if archive is None:
            print(f"  {name}: the source cannot be had here")
            return
        source = place / "source"
        build(program, archive, source, BUILDS["sleds"])
        told, seconds, megabytes = ask(source / program.binary)
        files = [path for path in source.rglob("*") if path.suffix in (".c", ".cc", ".cpp", ".h") and path.is_file()]
        lines = sum(path.read_bytes().count(b"\n") for path in files)
        print(f"  {name:<10} {lines:8} {len(told['suspects']):6} {len(told['left_out']):6} {seconds:7.1f} {megabytes:7.0f}",
              flush=True)

    def races(self, program):
        """Races that one run shows, as pairs of (file, line)."""
        recording = program.with_suffix(".recording")
        subprocess.run([REWEAVE, "record", "-q", "-o", recording, "--", program], stdin=subprocess.DEVNULL, timeout=LIMIT,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        done = subprocess.run([REWEAVE, "predict", recording, "--json", "--analysis", "shb"], capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        findings = json.loads(done.stdout)["findings"] if done.stdout else []
        return {tuple(sorted((pathlib.Path(event["site"].get("file", "")).name, event["site"].get("line", 0))
                             for event in finding["events"][:2])) for finding in findings if finding["kind"] == "race"}

    def subjects(self):
        rows = {}
        sources = sorted(path for path in (ROOT / "tests/programs").iterdir() if path.suffix in (".c", ".cc"))
        for number, source in enumerate(sources):
            compiler = BUILDS["sleds"][source.suffix == ".cc"]
            program = self.folder / source.stem
            made = subprocess.run([compiler, "-g", "-O1", "-w", "-pthread", source, "-lrt", "-lm", "-o", program],
                                  capture_output=True, check=False, timeout=LIMIT)
            if made.returncode != 0:
                continue
            told, seconds, _ = ask(program)
            suspects = {lines_of(pair) for pair in told["suspects"]}
            races = {pair for pair in self.races(program) if all(file == source.name for file, _ in pair)}
            kind = "correct twins" if source.stem.endswith("_ok") else f"others, half {number % 2 + 1}"
            row = rows.setdefault(kind, [0, 0, 0, 0, 0.0])
            for i, more in enumerate((1, len(suspects), len(races), len(races & suspects), seconds)):
                row[i] += more
        print(f"\n{'subjects':16} {'programs':>8} {'suspected':>9} {'races that a run shows':>22} {'of them suspected':>17} {'s':>6}")
        for kind, row in sorted(rows.items()):
            print(f"{kind:16} {row[0]:8} {row[1]:9} {row[2]:22} {row[3]:17} {row[4]:6.1f}")
