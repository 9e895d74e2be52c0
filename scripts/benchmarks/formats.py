"""The Google benchmark of the encoders (tests/formats/bench_formats.cc), in the form of the other tables."""
import json
import statistics
import subprocess

from benchmarks.common import BUILD, Bench, run, spread


class FormatsBench(Bench):
    def show(self):
        subprocess.run(["ninja", "-C", BUILD, "tests/formats/bench_formats"], stdout=subprocess.DEVNULL, check=True)
        command = [BUILD / "tests" / "formats" / "bench_formats", f"--benchmark_repetitions={self.runs}",
                   "--benchmark_format=json", f"--benchmark_min_time={0.5 * self.scale}"]
        _, text = run(command, output=subprocess.PIPE)
        rows = {}
        for row in json.loads(text[text.index("{"):text.rindex("}") + 1])["benchmarks"]:
            if row.get("run_type") == "iteration":
                rows.setdefault(row["run_name"], []).append(row)
        print("\nformats")
        for name, repeats in rows.items():
            rate = [r["items_per_second"] / 1e6 for r in repeats if "items_per_second" in r]
            rate_text = spread(rate, "M items/s") if rate else spread([r["real_time"] for r in repeats], repeats[0]["time_unit"])
            counters = {k: v for k, v in repeats[0].items() if "bytes/" in k or "/event" in k}
            print(f"  {name:<32}{rate_text}" + "".join(f"  {k} {v:.3f}" for k, v in counters.items()))
