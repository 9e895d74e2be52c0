#!/usr/bin/env python3
"""A program that maps a file: no explored run writes to the user's file, or sees what another run wrote."""
import re
import sys

from checking import demand, main

START = (1000).to_bytes(4, "little") + b"kept as it is".ljust(4092, b".")


def check(at):
    for kind in ("plain", "tsan"):
        folder = at.folder / kind
        folder.mkdir()
        file = folder / "counts"
        file.write_bytes(START)
        at.reweave("record", "--seed", "1", "-o", folder / "good", "--", at.program("mapped_counter", kind), file)
        recorded = file.read_bytes()
        demand(recorded[:4] == (1002).to_bytes(4, "little"), "the program did not count", str(recorded[:4]))
        text = at.reweave("explore", folder / "good", "--runs", "200", "-o", folder / "found", accept=(0, 10))
        demand(file.read_bytes() == recorded, "explored runs wrote to the file", text)
        if kind == "tsan":
            demand("1 distinct failure" in text and "20 of 20 replays" in text, "the lost count is not found", text)
        file.unlink()
        again = at.reweave("explore", folder / "good", "--runs", "200", "-o", folder / "again", accept=(0, 10))
        found = re.compile(r"^  found by .*|, \d+ distinct failure.*", re.M)
        demand(found.findall(again) == found.findall(text), "without the file the runs are others", text + again)
        demand(not file.exists(), "explored runs made the file", again)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
