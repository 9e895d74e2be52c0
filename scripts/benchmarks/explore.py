"""Runs a second of `reweave explore`, and what a run costs with few or many schedule points."""
import re
import shutil
import statistics
import subprocess

from benchmarks.common import BUILD, REWEAVE, Bench, Failed, run, spread


class ExploreBench(Bench):
    def show(self):
        wanted = int(self.scaled(3000))
        for jobs in (1, 2):
            print(f"\nexplore bank_account.tsan, {wanted} runs, {jobs} workers")
            rates = []
            try:
                for i in range(self.runs):
                    text = self.explored("tests/programs/tsan/bank_account.tsan", i, ["--runs", wanted, "--jobs", jobs])
                    rates.append(float(re.search(r"\((\d+) runs/s\)", text)[1]))
                print(f"  {spread(rates, 'runs/s')}")
            except Failed as problem:
                print(f"  failed: {problem}")
        self.one_variable()

    def explored(self, program, turn, options):
        """The output of `reweave explore` for a fresh recording of the program."""
        recording, found = self.folder / "recording", self.folder / f"found-{turn}"
        for folder in (recording, found):
            shutil.rmtree(folder, ignore_errors=True)
        # A buggy program may fail already here; the recording is usable nevertheless.
        run([REWEAVE, "record", "-o", recording, "--", BUILD / program], accept=range(256))
        return run([REWEAVE, "explore", recording, "-o", found, *options], accept=(0, 10), output=subprocess.PIPE)[1]

    def one_variable(self):
        """Milliseconds per run: without a policy, with one variable tracked, with every access a schedule point."""
        program, rows = "tests/bench/bench_one_variable.tsan", {}
        for turn in range(self.runs):
            for name, options in {"no policy": ["--strategy", "native", "--every-access"],
                                  "one variable": ["--strategy", "pct"],
                                  "every access": ["--strategy", "pct", "--every-access"]}.items():
                text = self.explored(program, turn, ["--runs", int(self.scaled(40)), "--verify", 0, *options])
                quiet = re.search(r"share: ([\d.]+) ms each", text)
                rate = re.search(r"(\d+) runs in ([\d.]+) s", text)
                rows.setdefault(name, []).append(float(quiet[1]) if quiet else 1e3 * float(rate[2]) / int(rate[1]))
        print("\nexplore bench_one_variable.tsan, a run")
        for name, values in rows.items():
            print(f"  {name:<16}{spread(values, 'ms')}")
        base, one, every = (statistics.median(rows[name]) for name in ("no policy", "one variable", "every access"))
        print(f"  one variable is {one / base:.2f} of no policy, {one / every:.3f} of every access")
