#!/usr/bin/env python3
"""Checks by counts, not by times, what recording an idle program costs. `scripts/bench growth` measures times."""
import pathlib
import re
import subprocess
import time

from scratch_case import ScratchCase


class Growth(ScratchCase):
    def test_the_recorder_sleeps_while_the_program_does(self):
        with subprocess.Popen([self.build / "reweave", "record", "-o", self.recording, "--", "/bin/sleep", "100"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
            woken = []
            for _ in range(2):
                time.sleep(4)
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
                woken.append(int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)$", status, re.M).group(1)))
            process.terminate()
        self.assertLess(woken[1] - woken[0], 80, woken)


if __name__ == "__main__":
    Growth.main()
