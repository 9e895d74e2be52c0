#!/usr/bin/env python3
"""Packed recordings replay, and can be traced, explored and debugged, where none of the recorded files exist. If a
recording has a fault, the message names it.

    pack_check.py --build BUILD
"""
import json
import os
import pathlib
import re
import shutil
import subprocess

from scratch_case import ScratchCase

BAD_INPUT = 2
LIMIT_SECONDS = 600
LIBRARY = """
int scaled(int value) { return value * 3; }
"""
PROGRAM = """
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
int scaled(int);
static int total;
static void *worker(void *argument) {
  for (int i = 0; i < 10; i++) __atomic_fetch_add(&total, scaled(*(int *)argument), __ATOMIC_SEQ_CST);
  return NULL;
}
int main(int argc, char **argv) {
  pthread_t threads[2];
  int factors[2] = {1, 2};
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, &factors[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("total %d\\n", total);
  fflush(stdout);
  assert(argc < 2);
  return 7;
}
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=LIMIT_SECONDS,
                          check=False, stdin=subprocess.DEVNULL, **options)


class PackTest(ScratchCase):
    def setUp(self):
        super().setUp()
        self.machine = self.folder / "machine"  # take_away() removes it
        self.machine.mkdir()

    def reweave(self, *arguments):
        return run(self.build / "reweave", *arguments)

    def compile(self, *flags):
        """Compiles the program and its library."""
        (self.machine / "library.c").write_text(LIBRARY)
        (self.machine / "program.c").write_text(PROGRAM)
        for command in (["gcc", "-g", *flags, "-shared", "-fPIC", "-Wl,-soname,libscaled.so.1", "-o", "libscaled.so.1.0", "library.c"],
                        ["ln", "-s", "libscaled.so.1.0", "libscaled.so.1"],
                        ["gcc", "-g", *flags, "-pthread", "-o", "program", "program.c", "libscaled.so.1.0", "-Wl,-rpath,$ORIGIN"]):
            subprocess.run(command, cwd=self.machine, check=True)

    def split_debug_information(self):
        for name in ("program", "libscaled.so.1.0"):
            for command in (["objcopy", "--only-keep-debug", name, name + ".debug"], ["strip", "-g", name],
                            ["objcopy", "--add-gnu-debuglink=" + name + ".debug", name]):
                subprocess.run(command, cwd=self.machine, check=True)

    def record(self, *arguments, status=7):
        made = self.reweave("record", "--seed", "1", "-o", self.recording, "--", self.machine / "program", *arguments)
        self.assertEqual(made.returncode, status, made.stderr)
        return made

    def pack(self, *options):
        packed = self.reweave("pack", *options, self.recording)
        self.assertEqual(packed.returncode, 0, packed.stderr)
        return packed.stdout

    def take_away(self):
        shutil.rmtree(self.machine)

    def manifest(self):
        return json.loads(self.reweave("traceinfo", self.recording).stdout)

    def test_every_file_is_in_it_once(self):
        self.compile()
        self.record()
        self.pack()
        files = self.manifest()["files"]
        self.assertTrue(all(file["stored"] for file in files), files)
        self.assertTrue(any("/ld-linux" in file["path"] for file in files))
        names = sorted(os.listdir(self.recording / "files"))
        self.assertEqual(names, sorted({file["stored"] for file in files}))
        self.assertIn("; 0 new", self.pack())
        self.assertEqual(names, sorted(os.listdir(self.recording / "files")))

    def test_replays_without_the_files(self):
        self.compile()
        recorded = self.record()
        self.pack()
        self.take_away()
        replayed = self.reweave("replay", self.recording)
        self.assertEqual((recorded.returncode, recorded.stdout), (replayed.returncode, replayed.stdout), replayed.stderr)

    def test_a_recording_may_have_the_name_of_a_verb(self):
        self.compile()
        self.recording = self.folder / "replay"
        recorded = self.record()
        shown = run(self.build / "reweave", "replay", "replay", cwd=self.folder)
        self.assertEqual((recorded.returncode, recorded.stdout), (shown.returncode, shown.stdout), shown.stderr)

    def test_replays_with_other_files_in_their_place(self):
        self.compile()
        recorded = self.record()
        self.assertEqual(self.reweave("replay", self.recording).returncode, 7)
        self.pack()
        (self.machine / "library.c").write_text("int scaled(int value) { return -value; }\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", "libscaled.so.1.0", "library.c"], cwd=self.machine, check=True)
        replayed = self.reweave("replay", self.recording)
        self.assertEqual((recorded.returncode, recorded.stdout), (replayed.returncode, replayed.stdout), replayed.stderr)

    def test_a_file_that_changed_before_cannot_be_packed(self):
        self.compile()
        self.record()
        before = self.manifest()
        (self.machine / "library.c").write_text("int scaled(int value) { return -value; }\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", "libscaled.so.1.0", "library.c"], cwd=self.machine, check=True)
        packed = self.reweave("pack", self.recording)
        self.assertEqual(packed.returncode, BAD_INPUT)
        self.assertIn("is not the file that was recorded", packed.stderr)
        self.assertEqual(before, self.manifest())

    def test_a_damaged_copy_is_named(self):
        self.compile()
        self.record()
        self.pack()
        copy = next(file for file in self.manifest()["files"] if "libscaled" in file["path"])
        path = self.recording / "files" / copy["stored"]
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
        replayed = self.reweave("replay", self.recording)
        self.assertEqual((replayed.returncode, replayed.stdout), (BAD_INPUT, ""))
        self.assertIn("is damaged", replayed.stderr)
        path.unlink()
        self.assertIn("is missing", self.reweave("replay", self.recording).stderr)

    def test_trace_names_its_code(self):
        self.compile("-fsanitize=thread")
        self.record()
        self.pack()
        self.take_away()
        trace = self.folder / "trace.rwt"
        traced = self.reweave("trace", self.recording, "-o", trace)
        self.assertEqual(traced.returncode, 0, traced.stderr)
        modules = json.loads(self.reweave("traceinfo", trace).stdout)["modules"]
        program = next(module for module in modules if module["path"].endswith("/machine/program"))
        self.assertNotEqual(program["build_id"], "")

    def test_report_names_functions_and_lines(self):
        shutil.copy(self.build / "tests/programs/tsan/bank_account.tsan", self.machine / "program")
        self.record(status=0)
        self.pack()
        self.take_away()
        trace = self.folder / "trace.rwt"
        self.assertEqual(self.reweave("trace", self.recording, "-o", trace).returncode, 0)
        report = self.reweave("predict", trace).stdout
        self.assertRegex(report, r"in deposit at \S*bank_account\.c:23")
        found = self.reweave("explore", self.recording, "--runs", "200", "-o", self.folder / "found")
        self.assertRegex(found.stdout, r"in deposit \(bank_account\.c:27\)", found.stderr)
        again = self.reweave("replay", self.folder / "found/failure-1")
        self.assertEqual(again.returncode, 134, again.stderr)

    def gdb(self, *commands):
        result = self.reweave("replay", "--quiet", "-g", "end", "--gdb-batch", ";".join(commands), self.recording)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_gdb_finds_the_packed_files(self):
        self.compile()
        self.record("fail", status=134)
        self.pack()
        self.take_away()
        out = self.gdb("bt", "info symbol scaled", "info line scaled")
        self.assertRegex(out, r"main \(argc=2, .*\) at \S*program\.c:18")
        self.assertRegex(out, r"scaled in section \.text of \S*recording/files/\w+")
        self.assertIn("received signal SIGABRT", out)

    def test_separate_debug_information(self):
        self.compile()
        self.split_debug_information()
        self.record("fail", status=134)
        self.pack()
        self.assertEqual(self.manifest()["debug_files"], [])
        self.pack("--debuginfo")
        stored = self.manifest()["debug_files"]
        self.assertGreaterEqual(len(stored), 2)
        self.take_away()
        out = self.gdb("bt", "info line scaled")
        self.assertRegex(out, r"main \(argc=2, .*\) at \S*program\.c:18")
        self.assertRegex(out, r'Line 2 of "library\.c"')

    def shared_libraries(self, *programs):
        found = set()
        for program in programs:
            output = run("ldd", program).stdout
            found |= set(re.findall(r"=> (/\S+)", output))
        return found

    def test_replays_in_a_root_folder_of_nothing_else(self):
        """Replays in a root folder that has only reweave, its libraries (at paths of its own, so that no recorded file
        exists), and the recording. A user other than root does this in a user namespace."""
        self.compile()
        recorded = self.record()
        self.pack()
        root = self.folder / "root"
        (root / "reweave/recorder").mkdir(parents=True)
        (root / "libraries").mkdir()
        (root / "proc").mkdir()
        (root / "dev").mkdir()
        (root / "lib64").mkdir()
        (root / "dev/null").touch()
        shutil.copy(self.build / "reweave", root / "reweave")
        for name in ("reweave-core", "libreweave.so", "libreweave-tsan.so"):
            shutil.copy(self.build / "recorder" / name, root / "reweave/recorder")
        for library in self.shared_libraries(self.build / "reweave"):
            shutil.copy(library, root / "libraries")
        shutil.copy("/lib64/ld-linux-x86-64.so.2", root / "lib64")
        shutil.move(self.recording, root / "recording")
        self.take_away()
        replay = 'chroot "$1" /reweave/reweave replay /recording'
        if os.geteuid() == 0:
            # Mounts below a private mount reach no other namespace, even if / itself is not a mount (in a chroot).
            script = ('mount --bind "$1" "$1" && mount --make-private "$1" && mount --bind /proc "$1/proc" && '
                      f'mount --bind /dev/null "$1/dev/null" && {replay}; '
                      'status=$?; umount "$1/proc" "$1/dev/null"; umount "$1"; exit $status')
            alone = ["--propagation", "unchanged"]
        else:
            script = f'mount --rbind /proc "$1/proc" && mount --bind /dev/null "$1/dev/null" && exec {replay}'
            alone = ["--user", "--map-root-user"]
        replayed = run("unshare", *alone, "--mount", "sh", "-c", script, "sh", root,
                       env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LD_LIBRARY_PATH": "/libraries"})
        self.assertEqual((recorded.returncode, recorded.stdout), (replayed.returncode, replayed.stdout), replayed.stderr)


if __name__ == "__main__":
    PackTest.main()
