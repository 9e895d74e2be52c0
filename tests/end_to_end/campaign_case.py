"""The common parts of the checks of campaigns."""
import hashlib
import json
import pathlib
import subprocess

from scratch_case import ScratchCase

LIMIT = 1200  # seconds
ROOT = pathlib.Path(__file__).resolve().parents[2]
BAD_INPUT, FAILURE_FOUND, NOT_EXAMINED = 2, 10, 11


class CampaignCase(ScratchCase):
    def reweave(self, *arguments, status=0, **options):
        """Standard output and standard error of a command that has to end with `status`."""
        done = subprocess.run([self.build / "reweave", *map(str, arguments)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT, check=False, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def recorded(self, name, source=None):
        """A recording of a program that passes."""
        source = source or (ROOT / "tests/programs" / f"{name}.c").read_text()
        program = self.compiled(name, source, "-g", "-O1", "-w", "-fsanitize=thread", "-pthread")
        recording = self.folder / f"{name}.recording"
        self.reweave("record", "-o", recording, "--", program)
        return recording

    def new(self, name, *recordings, units=8, runs=60, options=()):
        campaign = self.folder / name
        self.reweave("campaign", "new", campaign, *recordings, "--units", units, "--runs", runs, *options)
        return campaign

    def unit(self, campaign, number, status=0):
        return self.reweave("explore", "--campaign", campaign, "--unit", number, status=status)

    def published(self, campaign, kind="units"):
        """The names of what is published, without their folders. A unit that is killed while it publishes leaves .new-..."""
        return sorted(path.name for path in (campaign / kind).glob("*/[!.]*"))

    def merged(self, campaign, status=FAILURE_FOUND):
        """Merges; returns the content of failures.json, and the hash of each file that the merge wrote."""
        self.reweave("campaign", "merge", campaign, "--verify", "2", status=status)
        folder = campaign / "merged"
        files = {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
                 for path in folder.rglob("*") if path.is_file()}
        # Only this file names the folder.
        files.pop("summary.md")
        return json.loads((folder / "failures.json").read_text()), files
