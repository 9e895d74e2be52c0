"""Measures a step back in gdb, by the length of the recording, with checkpoints and without."""
import json
import os
import statistics
import subprocess

from benchmarks.common import BENCH, REWEAVE, Bench, Failed, run

LIMIT = 1800  # seconds for one session
STEPS = {"reverse-stepi": 40, "reverse-step": 40, "reverse-continue": 6, "goto": 1}
WITHOUT = "REWEAVE_WITHOUT_CHECKPOINTS"

# gdb runs this in the middle of the recording.
SESSION = """
import json, time
import gdb
rows, counts, event = {{}}, {counts}, {event}
def timed(name, command):
    start = time.monotonic()
    gdb.execute(command, to_string=True)
    rows.setdefault(name, []).append(time.monotonic() - start)
gdb.execute("set pagination off")
timed("first", "reverse-stepi")
for name, count in counts.items():
    if name == "reverse-continue":
        gdb.execute("break mark", to_string=True)
    for i in range(count):
        timed(name, "reweave goto %d" % (event - 37 * (i + 1)) if name == "goto" else name)
rows["checkpoints"] = gdb.execute("monitor checkpoints", to_string=True).split()
json.dump(rows, open({output!r}, "w"))
"""


def late(values):
    """The 99th percentile, or the largest if there are few values."""
    return sorted(values)[min(len(values) - 1, int(0.99 * len(values)))]


class ReverseBench(Bench):
    def show(self):
        print("\na request of gdb in the middle of a recording, by its seconds: median and 99th percentile, ms")
        columns = ("first", "goto", "reverse-stepi", "reverse-step", "reverse-continue")
        print(f"  {'':<36}" + "".join(f"{name:>18}" for name in columns) + "   checkpoints, MB")
        for kind in ("plain", "instrumented"):
            for seconds in (2, 10, 60):
                try:
                    self.rows_of(kind, max(1, seconds * self.scale), columns)
                except (Failed, OSError, subprocess.SubprocessError) as problem:
                    print(f"  {kind} {seconds} s failed: {problem}")

    def rows_of(self, kind, seconds, columns):
        recording = self.folder / f"{kind}-{seconds:g}"
        run([REWEAVE, "record", "--seed", "1", "-o", recording, "--",
             BENCH / ("bench_long_run" + (".tsan" if kind == "instrumented" else "")), f"{seconds:g}"])
        total = json.loads(run([REWEAVE, "traceinfo", recording], output=subprocess.PIPE)[1])["events"]
        whole = run([REWEAVE, "replay", "-q", recording])[0]
        for way, variables in (("", {}), (" without", {WITHOUT: "1"})):
            few = max(1, int(4 * whole)) if variables else 1  # without checkpoints each takes as long as the replay
            counts = {name: max(1, count // few) for name, count in STEPS.items()}
            rows = self.session(recording, total // 2, counts, variables)
            name = f"{kind} {seconds:g} s, {total} events{way}"
            made = rows.pop("checkpoints")
            cells = "".join(f"{1e3 * statistics.median(rows[c]):>9.0f} {1e3 * late(rows[c]):>8.0f}" for c in columns)
            print(f"  {name:<36}{cells}   {made[0]}, {int(made[1]) / 1e6:.0f}", flush=True)

    def session(self, recording, event, counts, variables):
        output, script = self.folder / "rows.json", self.folder / "session.py"
        script.write_text(SESSION.format(counts=counts, event=event, output=str(output)), encoding="utf-8")
        output.unlink(missing_ok=True)
        done = subprocess.run([REWEAVE, "replay", "-q", "--backward", "-g", str(event), recording, "--gdb-batch",
                               f"source {script}"], env=os.environ | variables, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT)
        if not output.exists():
            raise Failed((done.stdout + done.stderr).strip()[-300:])
        return json.loads(output.read_text(encoding="utf-8"))
