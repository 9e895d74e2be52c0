#!/usr/bin/env python3
"""A recording stores data read from large files only once, survives changes to the files, and notices damage."""
import os
import pathlib
import random
import shutil
import socket
import subprocess
import time

from scratch_case import ScratchCase

BAD_INPUT = 2
MEGABYTE = 1 << 20
FILE_BYTES = 8 * MEGABYTE
# Reads a file three ways, lets others write to it in between, and writes to it itself.
PROGRAM = r"""
import hashlib, os, sys
path = sys.argv[1]
def look(what, data):
    print(what, len(data), hashlib.sha256(data).hexdigest(), flush=True)
fd = os.open(path, os.O_RDONLY)
def whole():
    os.lseek(fd, 0, 0)
    return b"".join(iter(lambda: os.read(fd, 100_000), b""))
look("whole", whole())
look("again", whole())
look("part", os.pread(fd, 70_001, 1_234_567))
sys.stdin.readline()
look("changed", whole())
with open(path, "r+b") as file:
    file.seek(5_000_000)
    file.write(b"by the program")
look("changed by the program", whole())
copy = os.dup(fd)
pid = os.fork()
if pid == 0:
    look("in a child", os.pread(copy, 50_000, 4_990_000))
    os._exit(0)
os.waitpid(pid, 0)
with open(path, "rb", buffering=0) as file:
    look("anew", file.read())
"""

# Reads from a descriptor that it receives, with no call between the reads: the sender moves the offset meanwhile.
RECEIVER = r"""
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int main(int count, char** arguments) {
  static char first[8192], second[8192];
  char byte, control[CMSG_SPACE(sizeof(int))];
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int sender = socket(AF_UNIX, SOCK_STREAM, 0), fd;
  if (count != 2 || strlen(arguments[1]) >= sizeof address.sun_path) return 1;
  strcpy(address.sun_path, arguments[1]);
  if (connect(sender, (struct sockaddr*)&address, sizeof address) != 0 || recvmsg(sender, &message, 0) != 1) return 2;
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  if (read(fd, first, sizeof first) != sizeof first) return 3;
  for (volatile long i = 0; i < 1000000000; i++) continue;
  if (read(fd, second, sizeof second) != sizeof second) return 4;
  fwrite(first, 1, sizeof first, stdout);
  fwrite(second, 1, sizeof second, stdout);
  return 0;
}
"""


class KeptReads(ScratchCase):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "data"
        self.data.write_bytes(random.Random(1).randbytes(FILE_BYTES))

    def replay(self):
        return subprocess.run([self.build / "reweave", "replay", self.recording], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=600)

    def record(self, *command, **options):
        return subprocess.run([self.build / "reweave", "record", "-o", self.recording, "--", *command],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=True, **options)

    def copy_of_reweave(self):
        """Copies Reweave, for users who may not enter the build folder. Returns the copy's folder."""
        folder = self.folder / "reweave"
        (folder / "recorder").mkdir(parents=True)
        for name in ("reweave", "recorder/reweave-core", "recorder/libreweave.so", "recorder/libreweave-tsan.so"):
            shutil.copy(self.build / name, folder / name)
        return folder

    def test_changed_meanwhile(self):
        program = self.folder / "program.py"
        program.write_text(PROGRAM)
        command = [self.build / "reweave", "record", "-o", self.recording, "--", "/usr/bin/python3", program, self.data]
        target = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        printed = [target.stdout.readline() for _ in range(3)]
        with open(self.data, "r+b") as file:  # waits until the lease is given up
            file.seek(MEGABYTE)
            file.write(b"from outside")
        printed += target.communicate("go on\n", timeout=600)[0].splitlines(keepends=True)
        self.assertEqual(target.returncode, 0)
        self.assertEqual(len(printed), 7)
        sums = [line.split()[-1] for line in printed]
        self.assertEqual(sums[0], sums[1])
        self.assertNotEqual(sums[0], sums[3])
        self.assertNotEqual(sums[3], sums[4])
        self.data.unlink()
        done = self.replay()
        self.assertEqual((done.returncode, done.stdout), (0, "".join(printed)), done.stderr)
        apart = (self.recording / "reads").stat().st_size
        # Two versions were stored: the original, and the final one from when the program opens the file again.
        self.assertTrue(0 <= apart - 2 * FILE_BYTES < MEGABYTE, f"{apart} bytes were stored apart")

    def test_moved_from_outside(self):
        program = self.compiled("receiver", RECEIVER)
        address = self.folder / "socket"
        with socket.socket(socket.AF_UNIX) as listener, open(self.data, "rb", buffering=0) as file:
            listener.bind(str(address))
            listener.listen()
            listener.settimeout(30)
            command = [self.build / "reweave", "record", "-o", self.recording, "--", program, address]
            target = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            receiver, _ = listener.accept()
            socket.send_fds(receiver, [b"x"], [file.fileno()])
            receiver.close()
            while file.tell() == 0 and target.poll() is None:
                time.sleep(0.001)
            file.seek(MEGABYTE)
            printed = target.communicate(timeout=600)[0]
        content = self.data.read_bytes()
        self.assertEqual((target.returncode, printed), (0, content[:8192] + content[MEGABYTE:MEGABYTE + 8192]))
        done = subprocess.run([self.build / "reweave", "replay", self.recording], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=600)
        self.assertEqual((done.returncode, done.stdout == printed), (0, True), done.stderr)

    def test_small_events(self):
        printed = self.record("sha1sum", self.data).stdout
        self.assertLess((self.recording / "events").stat().st_size, MEGABYTE)
        self.assertGreaterEqual((self.recording / "reads").stat().st_size, FILE_BYTES)
        self.data.unlink()
        self.assertEqual(self.replay().stdout, printed)

    def test_damage(self):
        self.record("sha1sum", self.data)
        reads = self.recording / "reads"
        content = reads.read_bytes()
        damaged = bytearray(content)
        damaged[FILE_BYTES // 2] ^= 1
        for bytes_there, reason in ((bytes(damaged), "checksum"), (content[:-1], "too short"), (b"", "too short")):
            reads.write_bytes(bytes_there)
            for verb in ("replay", "dump"):
                done = subprocess.run([self.build / "reweave", verb, self.recording], stdin=subprocess.DEVNULL,
                                      capture_output=True, timeout=600)
                self.assertEqual(done.returncode, BAD_INPUT, done.stderr)
                self.assertIn(reason, done.stderr.decode())
                self.assertIn("reads", done.stderr.decode())
        reads.unlink()
        self.assertEqual(self.replay().returncode, BAD_INPUT)

    def test_not_ours(self):
        """If the user may not take a lease on a file, as on system files, its content is in the recording's events."""
        others = self.folder / "others"
        others.mkdir()
        user = {}
        if os.getuid() == 0:
            user = {"user": 65534, "group": 65534}
            self.folder.chmod(0o755)
            os.chown(others, 65534, 65534)
            self.build = self.copy_of_reweave()
        self.recording = others / "recording"
        printed = self.record("sha1sum", pathlib.Path("/usr/bin/python3").resolve(), **user).stdout
        self.assertFalse((self.recording / "reads").exists())
        self.assertEqual(self.replay().stdout, printed)


if __name__ == "__main__":
    KeptReads.main()
