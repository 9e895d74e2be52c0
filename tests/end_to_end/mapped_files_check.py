#!/usr/bin/env python3
"""A recording has a small file's content from the time of mmap, even if the file changed after the program's fstat."""
import subprocess
import time

from scratch_case import ScratchCase

# Calls fstat on the file and maps it much later, with no call in between, so that the test can change the file.
PROGRAM = r"""
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int count, char** arguments) {
  struct stat before, after;
  if (count != 2) return 1;
  int file = open(arguments[1], O_RDONLY);
  if (write(1, "looks\n", 6) != 6 || fstat(file, &before) != 0) return 2;
  for (volatile long i = 0; i < 1000000000; i++) continue;
  const char* mapped = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE, file, 0);
  if (mapped == MAP_FAILED || fstat(file, &after) != 0) return 3;
  printf("%ld %ld\n", (long)before.st_size, (long)after.st_size);
  fwrite(mapped, 1, (size_t)after.st_size, stdout);
  return 0;
}
"""


class MappedFiles(ScratchCase):
    def setUp(self):
        super().setUp()
        self.program = self.compiled("program", PROGRAM)

    def check_changed(self, before, after):
        data = self.folder / "data"
        data.write_bytes(before)
        command = [self.build / "reweave", "record", "-o", self.recording, "--", self.program, data]
        target = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        printed = target.stdout.readline()
        time.sleep(0.1)
        with open(data, "r+b") as file:
            file.truncate(len(after))
            file.write(after)
        printed += target.communicate(timeout=600)[0]
        expected = b"looks\n%d %d\n" % (len(before), len(after)) + after
        self.assertEqual((target.returncode, printed), (0, expected))
        data.unlink()
        done = subprocess.run([self.build / "reweave", "replay", self.recording], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=600)
        self.assertEqual((done.returncode, done.stdout), (0, printed), done.stderr)

    def test_grown(self):
        self.check_changed(b"short", b"much longer than it was" * 500)

    def test_grown_past_small(self):
        self.check_changed(b"short", b"longer than what is taken into the log" * 1700)

    def test_shrunk(self):
        self.check_changed(b"longer than it will be" * 500, b"short")

    def test_rewritten(self):
        self.check_changed(b"before" * 100, b"after." * 100)


if __name__ == "__main__":
    MappedFiles.main()
