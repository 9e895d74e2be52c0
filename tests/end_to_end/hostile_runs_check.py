#!/usr/bin/env python3
"""Unusable input and runs that end badly: each gives one line that says why, and its own exit status."""
import ctypes
import os
import pathlib
import signal
import struct
import subprocess
import tempfile
import threading
import time

from scratch_case import ScratchCase

BAD_INPUT, DIVERGED, SYSTEM, UNSUPPORTED, TRUNCATED, DEADLOCK = 2, 3, 4, 5, 6, 7
LIMIT_SECONDS = 600
STILL_RUNNING = "reweave: the command has ended, but processes of it still run"
WATCHDOG_VALUE = 0x676f647765526557  # kWatchdogValue of recorder/arena.h


class HostileRuns(ScratchCase):
    def reweave(self, *arguments, stdout=subprocess.PIPE, **options):
        """Returns exit status, standard output and standard error."""
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen([self.build / "reweave", *arguments], stdin=subprocess.DEVNULL,
                                       stdout=output if stdout == subprocess.PIPE else stdout, stderr=errors,
                                       start_new_session=True, **options)
            try:
                process.wait(LIMIT_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                self.fail(f"{arguments} does not end")
            output.seek(0)
            errors.seek(0)
            return process.returncode, output.read().decode(), errors.read().decode()

    def record(self, *command, **options):
        return self.reweave("record", "-o", self.recording, "--", *command, **options)

    def check_same(self, *command, status=0, **options):
        """Records, expects `status`, replays, and expects the same again.

        Whether processes outlive the command depends on timing, so `record`'s line about them is not compared."""
        code, output, errors = self.record(*command, **options)
        self.assertEqual(code, status, errors)
        errors = "".join(line for line in errors.splitlines(keepends=True) if not line.startswith(STILL_RUNNING))
        recorded = code, output, errors
        replayed = self.reweave("replay", self.recording)
        self.assertEqual(recorded, replayed)
        return recorded

    def core_address(self, symbol):
        lines = subprocess.run(["nm", self.build / "recorder" / "reweave-core"], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        return next(int(line.split()[0], 16) for line in lines if line.endswith(" " + symbol))

    def check_refused(self, program, words):
        status, _, errors = self.record(program)
        self.assertEqual(status, BAD_INPUT, errors)
        self.assertIn(words, errors)
        self.assertEqual(errors.count("\n"), 1, errors)
        self.assertFalse(self.recording.exists(), "a recording of nothing is left behind")

    def write_program(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        path.chmod(0o755)
        return path

    def test_not_a_program(self):
        self.check_refused(self.write_program("text", b"hello\n"), "neither an ELF program nor a script")

    def test_missing_program(self):
        self.check_refused(self.folder / "missing", "No such file")

    def test_32_bit_program(self):
        head = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HHI", 2, 3, 1) + bytes(60)
        self.check_refused(self.write_program("old", head), "32-bit")

    def test_setuid_program(self):
        if os.geteuid() == 0:
            path = self.write_program("raised", b"#!/bin/sh\n")
            os.chown(path, 12345, 12345)
            path.chmod(0o4755)
            self.check_refused(path, "setuid")

    def test_sanitizer_runtimes(self):
        source = self.folder / "program.c"
        source.write_text("int main(void) { return 0; }\n")
        for flags, says in ((["-fsanitize=thread", "-static-libtsan"], "-shared-libsan"),
                            (["-fsanitize=address"], "AddressSanitizer"), (["-fsanitize=leak"], "LeakSanitizer")):
            subprocess.run(["gcc", *flags, "-o", self.folder / "program", source], check=True)
            self.check_refused(self.folder / "program", says)

    def test_gs_register(self):
        source = self.folder / "program.c"
        for number, (code, says) in enumerate((("xorl %%eax, %%eax; mov %%eax, %%gs", "loads the GS register"),
                                               ("movl $99, %%eax; wrgsbase %%rax", "wrgsbase"))):
            source.write_text(f"""#include <unistd.h>
int main(void) {{
  __asm__ volatile("{code}" ::: "eax");
  return getppid() == 0;
}}
""")
            subprocess.run(["cc", "-o", self.folder / "program", source], check=True)
            recording = self.folder / f"recording{number}"
            status, output, errors = self.reweave("record", "-o", recording, "--", self.folder / "program")
            self.assertEqual(status, UNSUPPORTED, errors)
            self.assertIn(says, errors)
            replayed = self.reweave("replay", recording)
            self.assertEqual(replayed, (UNSUPPORTED, output, errors.splitlines(keepends=True)[0]))

    def test_what_cannot_be_recorded(self):
        """The replay ends where the run was stopped, and says the same."""
        source = self.folder / "program.c"
        source.write_text("""#include <stdio.h>
int main(void) {
  puts("before");
  fflush(stdout);
  __asm__ volatile("int $0x80" ::"a"(20) : "memory", "r8", "r9", "r10", "r11");
  return 0;
}
""")
        subprocess.run(["cc", "-o", self.folder / "program", source], check=True)
        natively = subprocess.run([self.folder / "program"], stdout=subprocess.DEVNULL).returncode
        if natively == -signal.SIGSEGV:  # this kernel has no 32-bit calls, so the instruction is an ordinary fault
            status, output, errors = self.record(self.folder / "program")
            self.assertEqual((status, output), (128 + signal.SIGSEGV, "before\n"), errors)
            self.assertEqual(self.reweave("replay", self.recording)[:2], (128 + signal.SIGSEGV, "before\n"))
            return
        status, output, errors = self.record(self.folder / "program")
        self.assertEqual((status, output), (UNSUPPORTED, "before\n"), errors)
        replayed = self.reweave("replay", self.recording)
        self.assertEqual(replayed, (UNSUPPORTED, output, errors.splitlines(keepends=True)[0]))

    def test_recording_exists(self):
        self.recording.mkdir()
        status, _, errors = self.record("/bin/true")
        self.assertEqual(status, BAD_INPUT)
        self.assertIn("never overwritten", errors)

    def test_full_disk(self):
        status, _, errors = self.reweave("record", "-o", "/proc/recording", "--", "/bin/true")
        self.assertIn(status, (BAD_INPUT, SYSTEM), errors)
        mount = self.folder / "small"
        mount.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", mount], stderr=subprocess.DEVNULL).returncode:
            return
        try:
            status, _, errors = self.reweave("record", "-o", mount / "recording", "--", "/bin/sh", "-c",
                                             "head -c 3000000 /dev/urandom | cksum")
            self.assertEqual(status, SYSTEM, errors)
            self.assertIn("No space left", errors)
        finally:
            subprocess.run(["umount", mount], check=True)

    def test_rebuilt_program(self):
        source = self.folder / "program.c"
        for text in ("one", "two"):
            source.write_text(f'#include <stdio.h>\nint main(void) {{ puts("{text}"); return 0; }}\n')
            subprocess.run(["cc", "-o", self.folder / "program", source], check=True)
            time.sleep(0.1)  # a recording stores a copy of a file that was created just before
            if text == "one":
                self.assertEqual(self.record(self.folder / "program")[0], 0)
        status, output, errors = self.reweave("replay", self.recording)
        self.assertEqual((status, output), (BAD_INPUT, ""), errors)
        self.assertIn("is not the file that was recorded", errors)

    def test_exit_statuses(self):
        self.check_same("/bin/sh", "-c", "exit 37", status=37)

    def test_killed_by_itself(self):
        self.check_same("/bin/bash", "-c", "echo before; kill -9 $$", status=128 + signal.SIGKILL)

    def test_broken_pipe(self):
        self.check_same("/bin/bash", "-c", "yes | head -1; echo ${PIPESTATUS[0]}")

    def test_timeout(self):
        self.check_same("/usr/bin/timeout", "0.3", "sleep", "5", status=124)

    def test_background_daemon(self):
        self.check_same("/bin/bash", "-c", "(sleep 0.3; echo late) & echo early")

    def test_signals_to_the_parent(self):
        self.check_same("sh", "-c", "kill -ALRM $PPID; kill -USR1 $PPID; kill -IO $PPID; exit 3", status=3)

    def test_parent_of_an_orphan(self):
        self.assertEqual(self.check_same("sh", "-c", "(sleep 0.1; exec sh -c 'echo parent $PPID') & exit 0")[1],
                         "parent 1\n")

    def test_closed_standard_output(self):
        self.check_same("/bin/bash", "-c", "exec >&-; echo lost 2>/dev/null; exit 5", status=5)

    def test_threads_that_wait_for_ever(self):
        program = self.build / "tests" / "programs" / "plain" / "parallel_scan"
        status, _, errors = self.reweave("record", "--chaos", "--seed", "1", "--until-fail", "2000", "-o", self.recording,
                                         "--", program)
        self.assertEqual(status, DEADLOCK, errors)
        self.assertIn("every thread waits and none can be woken", errors)
        self.assertEqual(self.reweave("replay", self.recording)[0], DEADLOCK)

    def test_more_threads_than_places(self):
        self.check_same(self.build / "tests" / "programs" / "plain" / "ids_given_out", "17000", "5")

    def test_signal_of_the_supervisor_that_comes_late(self):
        marker = self.folder / "pid"
        signaller = threading.Thread(target=self.signal_as_supervisor, args=(marker,))
        signaller.start()
        script = f'open M, ">{marker}"; print M "$$\n"; close M; print scalar(select(undef, undef, undef, 1.5)), "\n"'
        recorded = self.check_same("/usr/bin/perl", "-e", script)
        signaller.join()
        self.assertEqual(recorded[1], "0\n", "the program was interrupted")

    @staticmethod
    def signal_as_supervisor(marker):
        """Sends the watchdog's signal (recorder/arena.h) while the program sleeps."""
        while not marker.exists() or not marker.read_text().endswith("\n"):
            time.sleep(0.02)
        time.sleep(0.5)
        pid = int(marker.read_text())
        watchdog, queued, value = 63, -1, WATCHDOG_VALUE
        info = struct.pack("iiiiiiQ", watchdog, 0, queued, 0, os.getpid(), 0, value).ljust(128, b"\0")
        rt_tgsigqueueinfo = 297
        if ctypes.CDLL(None, use_errno=True).syscall(rt_tgsigqueueinfo, pid, pid, watchdog, info) != 0:
            raise OSError(ctypes.get_errno(), "rt_tgsigqueueinfo")

    def test_few_descriptors(self):
        self.check_same("/bin/bash", "-c", "ulimit -n; ulimit -n 64; ls / >/dev/null && echo ok")

    def test_high_descriptors(self):
        self.check_same("/bin/bash", "-c", "ulimit -n 2048; exec 1500>&1 1200>&1; echo a >&1500; echo b >&1200")

    def test_child_killed_from_outside(self):
        marker = self.folder / "pid"
        script = f"sleep 60 & echo $! > {marker}; wait $!; echo status $?"
        killer = subprocess.Popen(["/bin/sh", "-c", f"while [ ! -s {marker} ]; do sleep 0.05; done; sleep 0.3; kill -9 $(cat {marker})"])
        recorded = self.record("/bin/bash", "-c", script)
        killer.wait()
        self.assertIn("status 137", recorded[1], recorded)
        self.assertEqual(recorded, self.reweave("replay", self.recording))

    def test_first_process_killed_from_outside(self):
        marker = self.folder / "pid"
        killer = subprocess.Popen(["/bin/sh", "-c", f"while [ ! -s {marker} ]; do sleep 0.05; done; sleep 0.3; kill -9 $(cat {marker})"])
        recorded = self.record("/bin/bash", "-c", f"echo $$ > {marker}; echo spinning; while :; do :; done")
        killer.wait()
        self.assertEqual(recorded[0], 137, recorded)
        self.assertEqual(recorded, self.reweave("replay", self.recording))

    def test_supervisor_killed(self):
        marker = self.folder / "pids"
        script = f"echo first; sleep 40 & echo $$ $! > {marker}; sleep 40; echo never"
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen([self.build / "reweave", "record", "-o", self.recording, "--", "/bin/bash", "-c", script],
                                       stdout=subprocess.DEVNULL, stderr=errors)
            while not marker.exists() or not marker.read_text().endswith("\n"):
                time.sleep(0.05)
            time.sleep(1)
            process.kill()
            process.wait()
            time.sleep(0.5)
            errors.seek(0)
            self.assertIn("reweave", errors.read().decode())
        for pid in marker.read_text().split():
            self.assertFalse(self.runs(pid), f"process {pid} runs on unrecorded")
        status, output, message = self.reweave("replay", self.recording)
        self.assertEqual((status, output), (TRUNCATED, "first\n"), message)

    def test_recording_fails(self):
        """Simulates a defect of the recorder: overwrites its code with an invalid instruction."""
        marker = self.folder / "pid"
        spoiler = threading.Thread(target=self.spoil_core, args=(marker,))
        spoiler.start()
        script = (f'$| = 1; print "before\n"; if (fork() == 0) {{ open M, ">{marker}"; print M "$$\n"; close M; '
                  'select(undef, undef, undef, 1.5); print "never\n"; exit } wait; print "never\n"')
        status, output, errors = self.record("/usr/bin/perl", "-e", script)
        spoiler.join()
        self.assertEqual((status, output), (DIVERGED, "before\n"), errors)
        self.assertIn("internal error: signal 4", errors)
        status, output, errors = self.reweave("replay", self.recording)
        self.assertEqual((status, output), (TRUNCATED, "before\n"), errors)
        self.assertRegex(errors, "^reweave: the recording ends here, where recording failed: internal error: signal 4")

    def spoil_core(self, marker):
        while not marker.exists() or not marker.read_text().endswith("\n"):
            time.sleep(0.02)
        time.sleep(0.5)
        with open(f"/proc/{int(marker.read_text())}/mem", "r+b", buffering=0) as memory:
            for symbol in ("core_on_sigsys", "core_on_patched_call"):
                memory.seek(self.core_address(symbol))
                memory.write(b"\x0f\x0b")  # ud2

    @staticmethod
    def runs(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
        except FileNotFoundError:
            return False


if __name__ == "__main__":
    HostileRuns.main()
