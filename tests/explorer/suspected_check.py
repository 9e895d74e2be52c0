#!/usr/bin/env python3
"""A run that goes where no passing run went, and then asks what the recording cannot answer, is kept. Others are not."""
import json
import pathlib
import subprocess
import sys

from checking import demand, main

SOURCE = pathlib.Path(__file__).with_name("unanswered.c")
SUSPECTED = 12


def check(at):
    program = at.folder / "unanswered"
    subprocess.run(["cc", "-g", "-w", "-O1", "-fsanitize=thread", "-pthread", SOURCE, "-o", program], check=True,
                   timeout=600)
    suspected(at, program)
    in_units(at, program)
    correct(at, program)
    hunted(at, program)


def recorded(at, program, mode):
    recording = at.folder / f"{mode}.run"
    if recording.exists():
        return recording
    at.reweave("record", "--seed", 1, "-o", recording, "--", program, mode)
    return recording


def suspected(at, program):
    found = at.folder / "report.found"
    text = at.reweave("explore", recorded(at, program, "report"), "--runs", 60, "--verify", 2, "--json", "-o", found,
                      accept=(SUSPECTED,))
    report = json.loads(text[:text.rindex("}") + 1])
    demand(not report["failures"] and len(report["suspected"]) == 1, "another number of runs is suspected", text)
    run = report["suspected"][0]
    demand("socket" in run["what"] and run["reproduced"], "another run is suspected, or it does not replay", run)
    demand("if (balance == 2)" in run["ending"], "the text does not say where the run left", run)
    text = at.reweave("replay", found / "suspected-1", accept=(3,))
    demand("left the recording" in text, "the replay says something else", text)
    text = at.reweave("explain", found / "suspected-1", accept=(2,))
    demand("could not be followed" in text, "explain says something else", text)


def in_units(at, program):
    campaign = at.folder / "campaign"
    at.reweave("campaign", "new", campaign, recorded(at, program, "report"), "--units", 2, "--runs", 60)
    at.reweave("campaign", "run", campaign, "--jobs", 1)
    text = at.reweave("campaign", "merge", campaign, accept=(SUSPECTED,))
    demand("may fail" in text and "socket" in text, "the campaign says something else", text)
    merged = json.loads((campaign / "merged" / "failures.json").read_text(encoding="utf-8"))["cases"][0]
    demand(not merged["failures"] and len(merged["suspected"]) == 1, "another number of runs is kept", merged)
    kept = campaign / "merged" / merged["suspected"][0]["recording"]
    text = at.reweave("replay", kept, accept=(3,))
    demand("left the recording" in text, "the replay says something else", text)
    page = (campaign / "merged" / "case-000000.html").read_text(encoding="utf-8")
    demand("May fail" in page, "the page does not show the run", page)


def correct(at, program):
    found = at.folder / "order.found"
    text = at.reweave("explore", recorded(at, program, "order"), "--runs", 200, "-o", found)
    demand("access" in text and "left it" in text, "no run left the recording, so this test shows nothing", text)
    demand("may fail" not in text and not list(found.glob("suspected*")), "a correct program is suspected", text)


def hunted(at, program):
    folder = at.folder / "hunt"
    text = at.reweave("hunt", "--runs", 40, "-o", folder, "--", program, "report", accept=(SUSPECTED,))
    demand("could not be followed to their end" in text and "replay -g end" in text, "hunt says something else", text)
    demand((folder / "suspected-1").is_dir(), "hunt has not kept the run", text)
    demand("<error" in (folder / "junit.xml").read_text(encoding="utf-8"), "the test counts as passed", text)
    text = at.reweave("hunt", "--runs", 40, "-o", folder, "--", program, "report", accept=(SUSPECTED,))
    demand("could not be followed to their end" in text, "a continued hunt forgets the run", text)
    demand(not (folder / "suspected-2").exists(), "a continued hunt keeps the same run again", text)


if __name__ == "__main__":
    sys.exit(main(check, __doc__))
