#!/usr/bin/env python3
"""A value handed over through the kernel (kernel_order.c) has no race, in any of the ways. A value written only after
the handover has one."""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "end_to_end"))
from scratch_case import ScratchCase  # noqa: E402

LIMIT_SECONDS = 600


class KernelOrder(ScratchCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory(prefix="reweave-kernel-order-")
        cls.program = pathlib.Path(cls.kept.name) / "kernel_order"
        subprocess.run(["cc", "-g", "-O1", "-w", "-fsanitize=thread", "-pthread", HERE / "kernel_order.c", "-o",
                        cls.program, "-lrt"], check=True, timeout=LIMIT_SECONDS)
        cls.ways = subprocess.run([cls.program], check=True, capture_output=True, text=True,
                                  timeout=LIMIT_SECONDS).stdout.split()

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def found(self, *arguments):
        """Returns the findings predicted from a run with these arguments."""
        recording = self.folder / "-".join(arguments)
        for command in (["record", "--seed", "1", "-o", recording, "--", self.program, *arguments],
                        ["predict", recording, "--format=json"]):
            done = subprocess.run([self.build / "reweave", *command], cwd=self.folder, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
        return [(finding["kind"], finding["pattern"]) for finding in json.loads(done.stdout)["findings"]]

    def test_every_way(self):
        self.assertGreater(len(self.ways), 30)
        for way in self.ways:
            with self.subTest(way=way):
                self.assertEqual(self.found(way), [])

    def test_no_way_hides_a_race(self):
        for way in self.ways:
            with self.subTest(way=way):
                self.assertIn("race", [kind for kind, _ in self.found(way, "late")])


if __name__ == "__main__":
    KernelOrder.main()
