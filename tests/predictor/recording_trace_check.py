#!/usr/bin/env python3
"""`predict` with a recording makes the trace once and keeps it in the recording. It makes the trace again if the kept
one no longer belongs to the recording, and uses a nameless file where it cannot keep one."""
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "end_to_end"))
from scratch_case import ScratchCase  # noqa: E402

TRUNCATED, LIMIT_SECONDS = 6, 100
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2  # linux/prctl.h, linux/capability.h
LIBC = ctypes.CDLL(None)


def give_up_rights():
    """For preexec_fn: makes file modes apply to the program even if root runs it."""
    if os.getuid() != 0:
        return
    for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


class RecordingTrace(ScratchCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory(prefix="reweave-recording-trace-")
        cls.good = pathlib.Path(cls.kept.name) / "good"
        subprocess.run([cls.build / "reweave", "record", "--seed", "1", "-o", cls.good, "--",
                        cls.build / "tests/programs/tsan/bank_account.tsan"], check=True, capture_output=True,
                       timeout=LIMIT_SECONDS)

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def setUp(self):
        super().setUp()
        shutil.copytree(self.good, self.recording)
        self.trace = self.recording / "trace.rwt"

    def predict(self, *arguments, status=0, **options):
        done = subprocess.run([self.build / "reweave", "predict", *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_kept_and_used_again(self):
        first = self.predict(self.recording)
        self.assertEqual(first.stderr, "")
        self.assertIn("atomicity R1-W2-W1", first.stdout)
        made = self.trace.stat()
        self.assertEqual(self.predict(self.recording).stdout, first.stdout)
        self.assertEqual(self.predict(self.trace).stdout, first.stdout)
        self.assertEqual(self.trace.stat().st_ino, made.st_ino)
        self.assertEqual(sorted(path.name for path in self.recording.iterdir()),
                         sorted([*(path.name for path in self.good.iterdir()), "trace.rwt"]))

    def test_made_again(self):
        def is_made_again(what):
            with self.subTest(what):
                before = self.trace.lstat().st_ino
                self.predict(self.recording)
                self.assertNotEqual(self.trace.lstat().st_ino, before)

        self.predict(self.recording)
        os.utime(self.trace, (1, 1))
        is_made_again("older than the recording")
        self.trace.write_bytes(self.trace.read_bytes()[:-1])
        is_made_again("cut")
        self.trace.write_text("T1|w(x)|1\n")
        is_made_again("something else")
        shutil.copytree(self.recording, self.folder / "moved")
        shutil.rmtree(self.recording)
        self.recording, self.trace = self.folder / "moved", self.folder / "moved/trace.rwt"
        is_made_again("moved")

    def test_links_are_not_followed(self):
        elsewhere = self.folder / "elsewhere"
        for name in ("trace.rwt", "trace.rwt.new"):
            elsewhere.write_text("kept")
            self.trace.unlink(missing_ok=True)
            (self.recording / name).symlink_to(elsewhere)
            self.predict(self.recording)
            self.assertEqual(elsewhere.read_text(), "kept")
            self.assertFalse(self.trace.is_symlink())

    def test_where_nothing_can_be_kept(self):
        self.folder.chmod(0o755)
        for path in (self.recording, *self.recording.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        temporary = self.folder / "temporary"
        temporary.mkdir()
        found = self.predict(self.recording, "--format=json", preexec_fn=give_up_rights, cwd="/",
                             env={**os.environ, "TMPDIR": str(temporary)}).stdout
        self.assertFalse(self.trace.exists())
        self.assertEqual(list(temporary.iterdir()), [])
        self.assertEqual(json.loads(found)["trace"], str(self.recording))
        self.recording.chmod(0o755)
        kept = json.loads(self.predict(self.recording, "--format=json").stdout)
        self.assertEqual(json.loads(found)["findings"], kept["findings"])

    def test_what_cannot_be_replayed_to_its_end(self):
        events = self.recording / "events"
        os.truncate(events, events.stat().st_size - 1)
        done = self.predict(self.recording, status=TRUNCATED)
        self.assertIn("the trace is incomplete", done.stderr)
        self.assertIn("only the first ", done.stdout)
        self.assertFalse(self.trace.exists())
        self.assertFalse((self.recording / "trace.rwt.new").exists())

    def test_the_latest(self):
        env = {**os.environ, "REWEAVE_DIR": str(self.folder / "all")}
        subprocess.run([self.build / "reweave", "record", "--seed", "1", "--",
                        self.build / "tests/programs/tsan/bank_account.tsan"], check=True, capture_output=True, env=env,
                       timeout=LIMIT_SECONDS)
        self.assertIn("atomicity R1-W2-W1", self.predict(env=env).stdout)

    def test_explored_by_its_candidates(self):
        candidates = self.folder / "candidates"
        self.predict(self.recording, "-o", candidates)
        done = subprocess.run([self.build / "reweave", "explore", self.recording, "--candidates", candidates, "--runs",
                               "50", "-o", self.folder / "found"], capture_output=True, text=True, check=False,
                              timeout=LIMIT_SECONDS)
        self.assertIn("found by candidate 1", done.stdout)


if __name__ == "__main__":
    RecordingTrace.main()
