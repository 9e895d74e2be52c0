"""Measures the cost of sleds: programs built by reweave-cc against the same built by clang, without Reweave; and explored
runs of a program with sleds against one built with -fsanitize=thread."""
import math
import re
import resource
import shutil
import statistics
import subprocess
import sys

from benchmarks.common import BUILD, REWEAVE, ROOT, Bench, Failed, run, spread, write_compressible

sys.path.insert(0, str(ROOT / "tests" / "explorer"))
from pbzip2_check import fetch

FLAGS = "-O2 -g -w"
LUA = """
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local words = {}
for i = 1, 300000 do words[i] = tostring(i * 7919 % 100003) .. fib(4) end
table.sort(words)
print(fib(27), #table.concat(words))
"""


def make(folder, compilers, *arguments):
    return [["make", "-s", "-C", folder, f"CC={compilers[0]}", f"CXX={compilers[1]}", *arguments]]


def configured(folder, compilers, *options, target="all"):
    return [["sh", "-c", 'cd "$1" && shift && ./configure "$@" >/dev/null', "sh", folder, f"CC={compilers[0]}",
             f"CFLAGS={FLAGS}", *options], ["make", "-s", "-C", folder, target]]


SQL = """
create table t(a integer primary key, b text, c integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 600000)
  insert into t select i, 'word' || (i * 7919 % 100003), i % 97 from n;
create index tb on t(b);
select c, count(*), max(b) from t group by c order by 2 desc, 1 limit 3;
select sum(length(x.b)) from t x join t y on x.b = y.b where y.c < 50;
"""


class Program:
    """A source package of Debian's: `archive` is its file, `steps` the commands that build it, `binary` what they make,
    `work` the arguments of each run; {input} is a file to compress, {script} and {sql} are programs for Lua and SQLite."""

    def __init__(self, archive, steps, binary, work):
        self.archive, self.steps, self.binary, self.work = archive, steps, binary, work


PROGRAMS = {
    "bzip2": Program("bzip2_*.orig.tar.*", lambda f, cc: make(f, cc, f"CFLAGS={FLAGS} -D_FILE_OFFSET_BITS=64", "bzip2"),
                     "bzip2", [["-kc", "{input}"]]),
    "libzstd": Program("libzstd_*.orig.tar.*", lambda f, cc: make(f / "programs", cc, f"CFLAGS={FLAGS}", "HAVE_ZLIB=0",
                                                                  "HAVE_LZMA=0", "HAVE_LZ4=0", "zstd"),
                       "programs/zstd", [["-q14c", "{input}"]]),
    "lua5.4": Program("lua5.4_*.orig.tar.*", lambda f, cc: make(f / "src", cc, "MYCFLAGS=-g", "SYSCFLAGS=-DLUA_USE_POSIX",
                                                                "SYSLIBS=-lm", "lua"),
                      "src/lua", [["{script}"]]),
    "xz-utils": Program("xz-utils_*.orig.tar.*", lambda f, cc: configured(
        f, cc, "--disable-shared", "--disable-nls", "--disable-scripts", "--disable-doc", "--disable-lzmainfo"),
                        "src/xz/xz", [["-2c", "{input}"]]),
    "lz4": Program("lz4_*.orig.tar.*", lambda f, cc: make(f / "programs", cc, f"CFLAGS={FLAGS}", "lz4"), "programs/lz4",
                   [["-q9c", "{input}"]]),
    "sqlite3": Program("sqlite3_*.orig.tar.*", lambda f, cc: configured(
        f, cc, "--disable-shared", "--disable-readline", "--disable-tcl", target="sqlite3"), "sqlite3",
                       [[":memory:", ".read {sql}"]]),
    "pbzip2": Program("pbzip2_*.orig.tar.*", lambda f, cc: make(f, cc, f"CXXFLAGS={FLAGS} -std=gnu++98 -pthread", "pbzip2"), "pbzip2",
                      [["-p2", "-kc", "{input}"]]),
}
BUILDS = {"clang": ("clang-14", "clang++-14"),
          "sleds": (BUILD / "recorder/compiler/reweave-cc", BUILD / "recorder/compiler/reweave-c++")}


def build(program, archive, source, compilers):
    """Unpacks the archive into the new folder `source`, and builds the program there."""
    source.mkdir()
    subprocess.run(["tar", "xf", archive, "-C", source, "--strip-components=1"], check=True)
    for step in program.steps(source, compilers):
        done = subprocess.run([str(word) for word in step], capture_output=True, text=True, timeout=900, check=False)
        if done.returncode != 0:
            raise Failed(f"its build: {done.stderr.strip()[-200:]}")


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def sizes(program):
    """Bytes of code, and of the stripped file."""
    lines = subprocess.run(["size", "-A", program], capture_output=True, text=True, check=True).stdout
    stripped = program.with_suffix(".stripped")
    subprocess.run(["strip", "-o", stripped, program], check=True)
    return int(re.search(r"^\.text\s+(\d+)", lines, re.M)[1]), stripped.stat().st_size


class SledsBench(Bench):
    def show(self):
        ratios = []
        print("\nprograms built by reweave-cc against clang 14 -O2, without Reweave: user time")
        for name, program in PROGRAMS.items():
            try:
                built = self.built(name, program)
                if built is not None:
                    ratios.append(self.compare(name, program, built))
            except (Failed, subprocess.SubprocessError, OSError) as problem:
                print(f"  {name} failed: {problem}")
        if ratios:
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            print(f"  geometric mean of {len(ratios)} programs: {mean:.3f}")
        self.explored_runs()

    def input(self):
        path = self.folder / "input"
        if not path.exists():
            write_compressible(path, 12_000_000 * self.scale)
            (self.folder / "script.lua").write_text(LUA)
            (self.folder / "script.sql").write_text(SQL)
        return path

    def built(self, name, program):
        """{build: path of the program}; None if the source cannot be fetched."""
        place = self.folder / name
        place.mkdir()
        archive = fetch(place, name, program.archive)
        if archive is None:
            print(f"  {name}: the source cannot be had here")
            return None
        paths = {}
        for kind, compilers in BUILDS.items():
            build(program, archive, place / kind, compilers)
            paths[kind] = place / kind / program.binary
        return paths

    def compare(self, name, program, built):
        words = {"input": self.input(), "script": self.folder / "script.lua", "sql": self.folder / "script.sql"}
        times = {kind: [] for kind in built}
        for _ in range(self.runs):
            for kind, path in built.items():
                times[kind].append(sum(processor_time([path, *(word.format(**words) for word in work)])
                                       for work in program.work))
        ratio = statistics.median(times["sleds"]) / statistics.median(times["clang"])
        code, whole = ([new / old for new, old in zip(sizes(built["sleds"]), sizes(built["clang"]))])
        print(f"  {name:<10}{spread(times['clang']):<30}{spread(times['sleds']):<30}{ratio:6.3f}x   "
              f"code {code:.2f}x, file {whole:.2f}x", flush=True)
        return ratio

    def explored_runs(self):
        """Milliseconds a run of a program that is nearly all accesses, without a policy, with one variable tracked and
        with every access a schedule point."""
        source = ROOT / "tests/bench/one_variable.c"
        programs = {"without accesses": ["clang-14"], "sleds": [BUILDS["sleds"][0]],
                    "-fsanitize=thread": ["clang-14", "-fsanitize=thread"]}
        policies = {"no policy": ["--strategy", "native", "--every-access"], "one variable": ["--strategy", "pct"],
                    "every access": ["--strategy", "pct", "--every-access"]}
        rows = {}
        for turn in range(self.runs):
            for i, (kind, compiler) in enumerate(programs.items()):
                program = self.folder / f"one_variable.{i}"
                if not program.exists():
                    subprocess.run([str(word) for word in (*compiler, *FLAGS.split(), "-pthread", source, "-o", program)],
                                   check=True, timeout=300)
                for policy, options in policies.items():
                    if kind == "without accesses" and policy != "no policy":
                        continue
                    rows.setdefault((kind, policy), []).append(self.milliseconds(program, turn, options))
        print("\nexplore tests/bench/one_variable.c, a run")
        for (kind, policy), values in rows.items():
            print(f"  {kind:<20}{policy:<16}{spread(values, 'ms')}")

    def milliseconds(self, program, turn, options):
        recording, found = self.folder / "recording", self.folder / f"found-{turn}"
        for folder in (recording, found):
            shutil.rmtree(folder, ignore_errors=True)
        run([REWEAVE, "record", "-o", recording, "--", program])
        text = run([REWEAVE, "explore", recording, "-o", found, "--runs", int(self.scaled(40)), "--verify", 0, *options],
                   accept=(0, 10), output=subprocess.PIPE)[1]
        quiet = re.search(r"share: ([\d.]+) ms each", text)
        rate = re.search(r"(\d+) runs in ([\d.]+) s", text)
        return float(quiet[1]) if quiet else 1e3 * float(rate[2]) / int(rate[1])
