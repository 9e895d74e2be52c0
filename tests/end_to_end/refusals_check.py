#!/usr/bin/env python3
"""A program that cannot be recorded, at all or on this machine, ends with one line that names the true cause. It never
gets a wrong recording."""
import ctypes
import errno
import os
import struct
import subprocess

from scratch_case import ScratchCase

LIMIT = 600  # seconds
UNSUPPORTED = 5
NO_SUCH_DEVICE = 77

# This request's struct may be followed by a path, and an address in it may point to anything.
LEADS_ELSEWHERE = """
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
struct query { uint32_t major, minor, size; int32_t fd; uint64_t rest; };
int main(void) {
  static char elsewhere[8];
  struct query query = {1, 1, sizeof query, -1, (uintptr_t)elsewhere};
  int fd = open("/dev/autofs", O_RDONLY);
  return fd >= 0 && ioctl(fd, 0xc0189371, &query) == 0 ? 0 : 77;
}
"""

MACHINE = """
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
int main(int argc, char** argv) {
  int fd = open("/dev/kvm", O_RDWR);
  if (fd < 0) return 77;
  printf("version %d\\n", ioctl(fd, 0xae00, 0));
  fflush(stdout);
  return argc == 1 || ioctl(fd, 0xae01, 0) >= 0 ? 0 : 77;
}
"""

SYSCALL_DISPATCH = 59  # PR_SET_SYSCALL_USER_DISPATCH


def forbid_dispatch(error):
    """Installs a seccomp filter by which prctl(PR_SET_SYSCALL_USER_DISPATCH) fails with `error`."""
    def instruction(code, true, false, value):
        return struct.pack("HBBI", code, true, false, value)
    load, jump_equal, leave = 0x20, 0x15, 0x06
    program = b"".join([instruction(load, 0, 0, 0), instruction(jump_equal, 0, 3, 157), instruction(load, 0, 0, 16),
                        instruction(jump_equal, 0, 1, SYSCALL_DISPATCH), instruction(leave, 0, 0, 0x50000 | error),
                        instruction(leave, 0, 0, 0x7fff0000)])
    buffer = ctypes.create_string_buffer(program)
    filter_program = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, filter_program) == 0


class Refusals(ScratchCase):
    def record(self, *program, **options):
        command = [self.build / "reweave", "record", "-o", self.recording, "--", *program]
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, **options)

    def native(self, *program):
        status = subprocess.run(program, capture_output=True, timeout=LIMIT).returncode
        if status == NO_SUCH_DEVICE:
            self.skipTest("this machine has no such device")
        self.assertEqual(status, 0)

    def assert_refused(self, result, words):
        self.assertEqual(result.returncode, UNSUPPORTED, result.stderr)
        self.assertIn(words, result.stderr)

    def test_ioctl_that_leads_elsewhere(self):
        program = self.compiled("query", LEADS_ELSEWHERE)
        self.native(program)
        self.assert_refused(self.record(program), "ioctl request 0xc0189371 cannot be recorded: its argument leads to")

    def test_virtual_machine(self):
        program = self.compiled("machine", MACHINE)
        self.native(program)
        self.assertEqual(self.record(program).returncode, 0)
        replayed = subprocess.run([self.build / "reweave", "replay", self.recording], capture_output=True, text=True,
                                  timeout=LIMIT)
        self.assertEqual((replayed.returncode, replayed.stdout), (0, "version 12\n"))
        self.recording = self.folder / "second"
        self.native(program, "create")
        self.assert_refused(self.record(program, "create"), "ioctl request 0xae01 (KVM) cannot be recorded")

    def test_dispatch_is_forbidden(self):
        for number in (errno.EPERM, errno.EINVAL):
            self.recording = self.folder / str(number)
            result = self.record("/bin/true", preexec_fn=lambda number=number: forbid_dispatch(number))
            self.assert_refused(result, "a seccomp filter around reweave forbids Syscall User Dispatch")

    def test_no_proc(self):
        alone = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        if subprocess.run([*alone, "true"], capture_output=True).returncode != 0:
            self.skipTest("no mount namespace of its own here")
        script = 'mount -t tmpfs none /proc && exec "$0" record -o "$1" -- /bin/true'
        result = subprocess.run([*alone, "sh", "-c", script, self.build / "reweave", self.recording],
                                capture_output=True, text=True, timeout=LIMIT)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("Reweave needs /proc", result.stderr)


if __name__ == "__main__":
    Refusals.main()
