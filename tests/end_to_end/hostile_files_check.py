#!/usr/bin/env python3
"""Recordings, traces and folders from a stranger have links, pipes, devices, sockets and the like under the names that
Reweave looks for. No verb hangs, no verb reads or writes files outside, and the status says what is wrong."""
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import tempfile

from scratch_case import ScratchCase

BAD_INPUT = 2
# The documented exit statuses, except for a defect's and the 128 + N of a signal.
DOCUMENTED = set(range(12))
LIMIT_SECONDS = 600
TERABYTE = 1 << 40
PRECIOUS = b"precious\n"


def make_link(path, precious):
    path.symlink_to(precious)


def make_dangling_link(path, precious):
    path.symlink_to(precious.parent / "not-there")


def make_pipe(path, _precious):
    os.mkfifo(path)


def make_folder(path, _precious):
    path.mkdir()


def make_device(path, _precious):
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))  # zero


def make_socket(path, _precious):
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's path must be short
    try:
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(path.name)
    finally:
        os.chdir(here)


def make_sparse(path, _precious):
    with path.open("wb") as file:
        file.truncate(TERABYTE)


def make_hard_link(path, precious):
    os.link(precious, path)


KINDS = [make_link, make_dangling_link, make_pipe, make_folder, make_socket, make_sparse, make_hard_link]
if os.geteuid() == 0:
    KINDS.append(make_device)


class HostileFiles(ScratchCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory(prefix="reweave-check-")
        kept = pathlib.Path(cls.kept.name)
        cls.good, cls.trace = kept / "good", kept / "good.rwt"
        cls.candidates, cls.text = kept / "candidates", kept / "text.std"
        cls.text.write_text("T1|w(x)|1\nT2|w(x)|2\n")
        for arguments in (["record", "-o", cls.good, "--", "/bin/echo", "hello"], ["trace", cls.good, "-o", cls.trace],
                          ["predict", cls.text, "-o", cls.candidates]):
            subprocess.run([cls.build / "reweave", *arguments], check=True, capture_output=True, timeout=LIMIT_SECONDS)
        cls.packed = kept / "packed"
        shutil.copytree(cls.good, cls.packed)
        subprocess.run([cls.build / "reweave", "pack", cls.packed], check=True, capture_output=True, timeout=LIMIT_SECONDS)

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def setUp(self):
        super().setUp()
        self.outside = self.folder / "outside"
        self.outside.mkdir()
        self.precious = self.outside / "precious"
        self.precious.write_bytes(PRECIOUS)

    def reweave(self, *arguments, cwd=None):
        """Returns exit status, standard output and standard error."""
        process = subprocess.Popen([self.build / "reweave", *arguments], stdin=subprocess.DEVNULL, cwd=cwd,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            output, errors = process.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            self.fail(f"{arguments} does not end")
        return process.returncode, output, errors.decode(errors="replace")

    def assert_untouched(self):
        self.assertEqual(self.precious.read_bytes(), PRECIOUS)
        self.assertEqual([entry.name for entry in self.outside.iterdir()], ["precious"])

    def verbs(self, recording):
        """Yields the command lines that read a recording. They write into `out`, which is emptied first."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        yield ["dump", recording]
        yield ["traceinfo", recording]
        yield ["ps", recording]
        yield ["replay", recording]
        yield ["replay", recording, "--gdb-batch", "info threads"]
        yield ["trace", recording, "-o", out / "trace"]
        yield ["trace", recording, "--export=std", "-o", out / "text"]
        yield ["explore", recording, "--runs", "2", "-o", out / "found"]
        yield ["explain", recording, "--expect-status", "255", "--seconds", "2"]
        yield ["pack", recording]

    def test_recordings(self):
        copy = sorted((self.packed / "files").iterdir())[0].name
        for member in ("manifest", "events", "reads", "files", f"files/{copy}"):
            for make in KINDS:
                recording = self.folder / "recording"
                shutil.copytree(self.packed, recording)
                path = recording / member
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
                make(path, self.precious)
                is_needed = {"dump": ("manifest", "events"), "traceinfo": ("manifest", "events"),
                             "ps": ("manifest", "events"), "replay": ("manifest", "events", "files", f"files/{copy}")}
                for command in self.verbs(recording):
                    with self.subTest(member=member, kind=make.__name__, command=command[0]):
                        status, _, errors = self.reweave(*command)
                        self.assertIn(status, DOCUMENTED, errors)
                        self.assert_untouched()
                        if "--gdb-batch" not in command and member in is_needed.get(command[0], ()) and \
                                not (member == "files" and make is make_folder):
                            self.assertEqual(status, BAD_INPUT, errors)
                            self.assertEqual(errors.count("\n"), 1, errors)
                shutil.rmtree(recording)

    def test_a_folder_of_copies_that_is_a_link(self):
        """`files` is a link to a folder elsewhere that has all copies, intact."""
        recording = self.folder / "recording"
        shutil.copytree(self.packed, recording)
        elsewhere = self.folder / "elsewhere"
        (recording / "files").rename(elsewhere)
        (recording / "files").symlink_to(elsewhere)
        status, _, errors = self.reweave("replay", recording)
        self.assertEqual(status, BAD_INPUT, errors)
        self.assertIn("files is not a folder", errors)

    def test_pack_writes_new_names_only(self):
        """Every name that `pack` might write to is a link to a file outside."""
        recording = self.folder / "recording"
        shutil.copytree(self.good, recording)
        for copy in (self.packed / "files").iterdir():
            if not (recording / "files" / copy.name).exists():
                (recording / "files" / copy.name).symlink_to(self.precious)
        first = os.getpid()
        for number in range(first, first + 2000):
            (recording / "files" / f"new-{number}").symlink_to(self.precious)
        (recording / "manifest.new").symlink_to(self.precious)
        status, _, errors = self.reweave("pack", recording)
        self.assertEqual((status, errors), (0, ""))
        self.assert_untouched()
        for copy in (self.packed / "files").iterdir():
            self.assertEqual((recording / "files" / copy.name).read_bytes(), copy.read_bytes())
            self.assertFalse((recording / "files" / copy.name).is_symlink())
        self.assertEqual(self.reweave("replay", recording)[:2], (0, b"hello\n"))

    def test_outputs_follow_no_links(self):
        out = self.folder / "out"
        commands = {"candidates": ["predict", self.text, "-o", out / "candidates"],
                    "text": ["trace", self.trace, "--export=std", "-o", out / "text"],
                    "text2": ["trace", self.good, "--export=std", "-o", out / "text2"]}
        for name, command in commands.items():
            with self.subTest(name=name):
                shutil.rmtree(out, ignore_errors=True)
                out.mkdir()
                first = os.getpid()
                for suffix in ["", ".new", ".state", ".state.new", *(f".new-{n}" for n in range(first, first + 2000))]:
                    (out / (name + suffix)).symlink_to(self.precious)
                status, _, errors = self.reweave(*command)
                self.assertEqual(status, 0, errors)
                self.assert_untouched()
                made = out / name
                self.assertFalse(made.is_symlink())
                self.assertEqual(stat.S_IMODE(made.stat().st_mode), 0o600)
                self.assertGreater(made.stat().st_size, 10)

    def test_what_must_be_new_is_refused_if_it_is_a_link(self):
        name = self.folder / "name"
        name.symlink_to(self.outside / "not-there")
        for command in (["record", "-o", name, "--", "/bin/true"], ["trace", self.good, "-o", name],
                        ["explore", self.good, "--runs", "1", "-o", name]):
            with self.subTest(command=command[0]):
                status, _, errors = self.reweave(*command)
                self.assertEqual((status, errors.count("\n")), (BAD_INPUT, 1), errors)
                self.assert_untouched()

    def test_decisions_that_lie_beside_the_output_are_not_believed(self):
        """A stranger's `.state` file is ignored, even if it looks like one of ours."""
        out = self.folder / "out"
        out.mkdir()
        for state in ("reweave predict 0.1.0 0\nff 1 0 0 1 99999999 0 1 1 0 4000000000 .\n", "\xff" * 100):
            (out / "candidates.state").write_text(state)
            status, output, errors = self.reweave("predict", self.text, "-o", out / "candidates")
            self.assertEqual((status, errors), (0, ""))
            self.assertEqual(output, self.reweave("predict", self.text)[1])

    def test_usual_outputs(self):
        """A user may name a device as the output."""
        status, output, errors = self.reweave("predict", self.text, "-o", "/dev/stdout", "--format=json")
        self.assertEqual((status, errors), (0, ""))
        self.assertIn(self.candidates.read_bytes()[:8], output)  # the format's first bytes
        text = self.reweave("trace", self.trace, "--export=std", "-o", "/dev/stdout")
        self.assertEqual((text[0], text[2]), (0, ""))
        self.assertEqual(self.reweave("trace", self.good, "--export=std", "-o", "/dev/stdout"), text)
        self.assertRegex(text[1], rb"\A(T\d+\|[^|\n]+\|\d+\n)+\Z")
        self.assertEqual(self.reweave("predict", self.text, "-o", "/dev/null")[0], 0)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_single_files(self):
        """Names of traces, texts and candidates that are links, pipes, devices and the like."""
        for make in KINDS:
            path = self.folder / "name.std"
            make(path, self.precious)
            plain = self.folder / "name"
            make(plain, self.precious)
            for command in (["dump", plain], ["traceinfo", plain], ["predict", plain], ["predict", path],
                            ["predict", "--analysis=hb", path],
                            ["trace", plain, "--export=std", "-o", self.folder / "out"],
                            ["explore", self.good, "--candidates", plain, "-o", self.folder / "found"]):
                with self.subTest(kind=make.__name__, command=command):
                    status, output, errors = self.reweave(*command)
                    self.assertEqual((status, output), (BAD_INPUT, b""), errors)
                    self.assertEqual(errors.count("\n"), 1, errors)
                    self.assert_untouched()
                    self.assertFalse((self.folder / "out").exists())
            for made in (path, plain):
                made.rmdir() if make is make_folder else made.unlink()

    def test_private(self):
        """Files that Reweave creates are readable by their user only, with any umask."""
        old = os.umask(0)
        try:
            self.assertEqual(self.reweave("record", "-o", self.recording, "--", "/bin/true")[0], 0)
            self.assertEqual(self.reweave("pack", self.recording)[0], 0)
            self.assertEqual(self.reweave("trace", self.recording)[0], 0)
            self.assertEqual(self.reweave("explore", self.recording, "--runs", "1")[0], 0)
        finally:
            os.umask(old)
        made = [self.recording, *self.recording.rglob("*"), *self.folder.glob("recording.*")]
        self.assertGreater(len(made), 6)
        for path in made:
            self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o077, 0, path)


if __name__ == "__main__":
    HostileFiles.main()
