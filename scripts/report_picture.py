#!/usr/bin/env python3
"""Draws README's picture: a report as a headless Chromium shows it.

    scripts/report_picture.py hunted/failure-1/report.html docs/report.png"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "explorer"))
import chromium  # noqa: E402


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program = chromium.find_chromium()
    if program is None:
        sys.exit("no Chromium is installed: apt-get install chromium")
    with chromium.Chromium(program) as browser:
        browser.open(pathlib.Path(sys.argv[1]), width=1200, height=1000)
        browser.screenshot(pathlib.Path(sys.argv[2]), whole=False)


if __name__ == "__main__":
    main()
