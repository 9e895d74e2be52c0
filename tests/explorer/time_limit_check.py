#!/usr/bin/env python3
"""When a campaign's time limit is reached, it abandons its current runs: it neither waits for them nor counts them."""
import sys

from checking import demand, main

PAIRS = 300_000_000  # of lock and unlock; they take longer than LIMIT on any machine
LIMIT = 10  # seconds: workers must have begun by then
TOO_SHORT = 0.001  # seconds: no worker can have begun


def check(at):
    at.reweave("record", "-o", at.folder / "long", "--", at.build / "tests" / "bench" / "bench_mutex_pair", PAIRS)
    for jobs in ("1", "2"):
        text = at.reweave("explore", at.folder / "long", "--seconds", LIMIT, "-j", jobs, "-o", at.folder / f"found-{jobs}",
                          accept=(11,))
        demand(text.startswith("0 runs"), "a run was made to its end", text)
        demand("0 distinct failures" in text, "a run that was called off failed", text)
    text = at.reweave("explore", at.folder / "long", "--seconds", TOO_SHORT, "-o", at.folder / "none", accept=(11,))
    demand("0 runs" not in text, "the time was up before a worker had begun, and a search is reported", text)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
