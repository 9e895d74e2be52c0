"""Trace events per second, and bytes per event, of `reweave trace`."""
import re
import shutil
import statistics
import subprocess

from benchmarks.common import BENCH, REWEAVE, Bench, Failed, run, spread


class TraceBench(Bench):
    def traced_programs(self):
        yield "memory loop", [BENCH / "bench_memory_loop.tsan", self.scaled(60)]
        yield "two threads, locks", [BENCH / "bench_mutex_pair.tsan", self.scaled(200_000)]

    def make_trace(self, command):
        """Records and traces: (path of the trace, seconds, events, bytes)."""
        recording, output = self.folder / "recording", self.folder / "trace.rwt"
        shutil.rmtree(recording, ignore_errors=True)
        output.unlink(missing_ok=True)
        run([REWEAVE, "record", "-o", recording, "--", *command])
        seconds, text = run([REWEAVE, "trace", recording, "-o", output], output=subprocess.PIPE)
        found = re.search(r"(\d+) events", text)
        if not found:
            raise Failed(f"no count of events in: {text.strip()[:100]}")
        return output, seconds, int(found[1]), output.stat().st_size

    def show(self):
        for name, command in self.traced_programs():
            print(f"\ntrace of {name}")
            try:
                results = [self.make_trace(command) for _ in range(self.runs)]
            except Failed as problem:
                print(f"  failed: {problem}")
                continue
            events = statistics.median(r[2] for r in results)
            print(f"  {events:,.0f} events; {spread([r[2] / r[1] for r in results], 'events/s')}; "
                  f"{statistics.median(r[3] / r[2] for r in results):.3f} bytes/event")
