#!/usr/bin/env python3
"""`explain --perfetto` writes a trace that protoc decodes: both schedules, their threads, and arrows along the cause."""
import collections
import pathlib
import re
import subprocess
import sys

from checking import demand, failing, main

HERE = pathlib.Path(__file__).resolve().parent


def decoded(path):
    """The packets of the trace, each as protoc prints it."""
    with path.open("rb") as trace:
        text = subprocess.run(["protoc", f"--proto_path={HERE}", "--decode=perfetto.protos.Trace", "perfetto.proto"],
                              stdin=trace, capture_output=True, text=True, check=True, timeout=60).stdout
    # Fields that the schema does not name are printed as numbers.
    unknown = re.findall(r"^\s*\d+[:\s{].*$", text, re.MULTILINE)
    demand(not unknown, "fields that Perfetto does not know", unknown)
    return re.findall(r"^packet \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)


def check(at):
    trace = at.folder / "why.pftrace"
    at.reweave("explain", failing(at, "bank_account"), "--perfetto", trace, "--seconds", 300)
    packets = decoded(trace)
    text = "\n".join(packets)
    for name in ('process_name: "the failing run"', 'process_name: "the nearest passing run"',
                 'thread_name: "thread 1"', 'name: "thread 2 runs"', 'name: "writes balance"',
                 'string_value: "deposit (bank_account.c:27)"', 'name: "killed by signal 6 (Aborted)'):
        demand(name in text, f"no {name}", text)
    slices_close(packets)
    flow = [packet for packet in packets if "flow_ids" in packet]
    demand(len(flow) == 2 and all("balance" in packet for packet in flow), "no arrow along the cause", flow)


def slices_close(packets):
    """Time does not go back on a track, and each slice that begins ends."""
    depth, last = collections.Counter(), collections.Counter()
    for packet in packets:
        event = re.search(r"type: TYPE_(\w+)\n\s*track_uuid: (\d+)", packet)
        if not event:
            continue
        kind, track = event.groups()
        time = int(re.search(r"timestamp: (\d+)", packet)[1])
        demand(time >= last[track], "time goes back", packet)
        last[track] = time
        depth[track] += {"SLICE_BEGIN": 1, "SLICE_END": -1}.get(kind, 0)
        demand(depth[track] >= 0, "a slice ends that did not begin", packet)
    demand(not any(depth.values()), "a slice does not end", depth)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
