#!/usr/bin/env python3
"""The value's way that `explain` prints for subject programs: each line of it, with its value."""
import json
import sys

from checking import demand, failing, main, subjects

# Program, then the text and the line of each step of the way.
WAYS = {
    # An assertion on a counter.
    "wrong_lock": [
        ("thread 0 compares 2 with 1, in main", 36), ("it had read 1 from additions, which nothing had written", 36),
        ("it had read 1 from total", 36), ("had written 1 there, in adder", 23),
        ("it had read 0 from total, which nothing had written", 23)],
    # A null pointer.
    "null_after_reset": [
        ("follows a pointer, to 0, in draw", 28), ("it had read 0 from cache", 28),
        ("had written 0 there, in dropper", 42)],
    # The same in the first thread; the other threads must not delay its end.
    "sleep_as_order": [
        ("thread 0 follows a pointer, to 0, in main", 21),
        ("it had read 0 from result, which nothing had written", 21)],
    # An assertion on a member of a structure.
    "double_fetch": [
        ("compares 32 with 16, in receiver", 27), ("it had read 32 from message.length", 26),
        ("had written 32 there, in sender", 35)],
    # A block that was freed.
    "join_missing": [
        ("uses the block of 4 bytes from main (join_missing.c:31), in worker", 24),
        ("had freed it, in close_log", 19)],
    # An exit status, which a comparison decided.
    "download_accelerator": [
        ("thread 0 ends the run with status 1, in main", 46), ("it had compared 1024 with 2048", 40),
        ("it had read 2 from blocks, which nothing had written", 32), ("it had read 1024 from written", 40),
        ("had written 1024 there, in part", 20)],
}


def explained(at, recording, *options):
    return at.reweave("explain", recording, "--seconds", "30", *options, accept=(0, 11))


def check(at):
    for name in subjects(WAYS, "wrong_lock", "join_missing", "download_accelerator"):
        steps = WAYS[name]
        way = json.loads(explained(at, failing(at, name), "--json"))["value_way"]
        for i, (words, line) in enumerate(steps):
            demand(i < len(way["steps"]), f"{name}: the way ends before step {i}", way)
            step = way["steps"][i]
            demand(step["text"].endswith(words) and step["line"] == line, f"{name}: step {i} is another", way)
        demand(way["end"], f"{name}: no word of why it ends", way)
    missed = [step for step in way["steps"] if "before" in step]
    demand(missed, "the write that a thread missed is not named", way)
    text = explained(at, at.folder / "wrong_lock.found" / "failure-1")
    demand("Origin of the value" in text and "before thread" in text, "the text has another way", text)
    not_instrumented(at)
    deadlock(at)


def not_instrumented(at):
    recording = at.folder / "plain"
    at.reweave("record", "-o", recording, "--", "/bin/false", accept=(1,))
    way = json.loads(explained(at, recording, "--json"))["value_way"]
    demand(way["steps"] == [] and "-fsanitize=thread" in way["end"], "a plain program has a way", way)
    demand("Origin of the value" not in explained(at, recording), "the text speaks of a way that there is not", way)


def deadlock(at):
    """Threads wait, so no value shows the failure."""
    recording = failing(at, "lock_order")
    way = json.loads(explained(at, recording, "--json"))["value_way"]
    demand(way["steps"] == [] and way["end"], "a deadlock has the way of a value", way)
    demand("Origin of the value" not in explained(at, recording), "the text speaks of a way that there is not", way)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
