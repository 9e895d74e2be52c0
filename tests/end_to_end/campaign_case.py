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
        """Runs a command that must end with `status`. Returns its standard output and standard error."""
        done = subprocess.run([self.build / "reweave", *map(str, arguments)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT, check=False, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, done.stderr

    def recorded(self, name, source=None):
        """Returns a new recording of the program, which must pass."""
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
        """Returns the names of published files, without the .new-... that a unit killed while publishing leaves."""
        return sorted(path.name for path in (campaign / kind).glob("*/[!.]*"))

    def merged(self, campaign, status=FAILURE_FOUND):
        """Merges; returns the content of failures.json, and the hash of each file that the merge wrote."""
        self.reweave("campaign", "merge", campaign, "--verify", "2", status=status)
        folder = campaign / "merged"
        files = {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
                 for path in folder.rglob("*") if path.is_file()}
        # This file names the folder, so it differs between campaigns.
        files.pop("summary.md")
        return json.loads((folder / "failures.json").read_text()), files
