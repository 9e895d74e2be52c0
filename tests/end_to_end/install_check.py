#!/usr/bin/env python3
"""The files that `meson install` installs work in their place, without the build folder. Each verb has a man page."""
import os
import pathlib
import re
import shutil
import subprocess

from scratch_case import ScratchCase

LIMIT = 600  # seconds
PROGRAM = """
#include <pthread.h>
#include <stdio.h>
static void* one(void* arg) { return arg; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, one, NULL);
  pthread_join(thread, NULL);
  puts("done");
  return 0;
}
"""


class Install(ScratchCase):
    def setUp(self):
        super().setUp()
        subprocess.run(["meson", "install", "--no-rebuild", "--quiet", "--strip", "-C", self.build, "--destdir",
                        self.folder / "root"], check=True, timeout=LIMIT, stdout=subprocess.DEVNULL)
        self.prefix = next((self.folder / "root").rglob("bin/reweave")).parents[1]

    def run_installed(self, *command, accept=(0,)):
        done = subprocess.run([self.prefix / "bin" / "reweave", *command], capture_output=True, text=True, timeout=LIMIT,
                              stdin=subprocess.DEVNULL, env={**os.environ, "HOME": str(self.folder)})
        self.assertIn(done.returncode, accept, done.stdout + done.stderr)
        return done.stdout

    def test_moved_elsewhere_it_works(self):
        self.prefix = shutil.move(self.prefix, self.folder / "elsewhere")
        program = self.compiled("program", PROGRAM, "-g", "-pthread")
        tsan = self.compiled("program.tsan", PROGRAM, "-g", "-pthread", "-fsanitize=thread")
        for name in (program, tsan):
            recording = self.folder / f"{name.name}-recording"
            self.assertEqual(self.run_installed("record", "-o", recording, "--", name), "done\n")
            self.assertEqual(self.run_installed("replay", recording), "done\n")
            self.run_installed("explore", recording, "--runs", "10")
            shown = self.run_installed("replay", recording, "-g", "end", "--gdb-batch", "info threads")
            self.assertIn("_exit", shown)

    def test_gdb_steps_over_calls(self):
        program = self.compiled("program", PROGRAM, "-g", "-pthread")
        self.run_installed("record", "-o", self.recording, "--", program)
        shown = self.run_installed("replay", self.recording, "-g", "1", "--gdb-batch",
                                   "break main;continue;next;next;next")
        lines = re.findall(r"^(\d+)\tin <stdin>", shown, re.M)
        self.assertEqual(lines, ["7", "8", "9", "10"], shown)  # steps over pthread_create, pthread_join, puts
        shown = self.run_installed("replay", self.recording, "--backward", "-g", "end", "--gdb-batch",
                                   "break one;reverse-continue")
        self.assertRegex(shown, r"Breakpoint 1, one \(")

    def test_gdb_names_the_list_of_symbols_if_it_is_missing(self):
        (self.prefix / "lib" / "reweave" / "reweave-core.symbols").unlink()
        self.run_installed("record", "-o", self.recording, "--", "/bin/true")
        done = subprocess.run([self.prefix / "bin" / "reweave", "replay", "-g", "end", "--gdb-batch", "bt", self.recording],
                              capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
        self.assertIn("reweave-core.symbols is missing", done.stdout + done.stderr)

    def test_gdb_refuses_the_list_of_symbols_of_another_build(self):
        symbols = self.prefix / "lib" / "reweave" / "reweave-core.symbols"
        symbols.write_text(re.sub(r"^0 n \w+$", "0 n " + 20 * "9b", symbols.read_text(), flags=re.M))
        self.run_installed("record", "-o", self.recording, "--", "/bin/true")
        for options in ((), ("--backward",)):
            done = subprocess.run([self.prefix / "bin" / "reweave", "replay", "-g", "end", *options, "--gdb-batch", "bt",
                                   self.recording], capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
            self.assertIn("reweave-core.symbols is of another build", done.stdout + done.stderr)

    def test_a_part_that_is_missing_is_named(self):
        (self.prefix / "lib" / "reweave" / "libreweave.so").unlink()
        done = subprocess.run([self.prefix / "bin" / "reweave", "record", "-o", self.recording, "--", "/bin/true"],
                              capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^reweave: .*libreweave\.so.*\n$")
        self.assertFalse(self.recording.exists())

    def test_other_builds_find_the_header(self):
        self.prefix = pathlib.Path(shutil.move(self.prefix, self.folder / "elsewhere"))
        share = self.prefix / "share"
        self.assertTrue((share / "cmake" / "reweave" / "reweave-config.cmake").exists())
        source = self.folder / "checked.cc"
        source.write_text("#include <reweave/check.h>\nint main() { return reweave::check([] {}) ? 0 : 1; }\n")
        flags = [f"-I{self.prefix}/include"]
        if shutil.which("pkg-config"):
            flags = subprocess.run(["pkg-config", "--cflags", "reweave"], capture_output=True, text=True, check=True,
                                   env={**os.environ, "PKG_CONFIG_PATH": str(share / "pkgconfig")}).stdout.split()
        program = self.folder / "checked"
        subprocess.run(["c++", "-std=c++17", *flags, source, "-o", program], check=True, timeout=LIMIT)
        done = subprocess.run([program], timeout=LIMIT, env={**os.environ, "PATH": f"{self.prefix}/bin:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 0)

    def test_each_verb_has_a_page_and_is_completed(self):
        verbs = re.findall(r"^  ([a-z]+) ", self.run_installed("--help").split("Common verbs:")[1].split("Exit")[0], re.M)
        self.assertEqual(verbs[0], "hunt")
        self.assertIn("pack", verbs)
        share = self.prefix / "share"
        program = (self.prefix / "bin" / "reweave").read_bytes()
        for verb in verbs:
            page = (share / "man" / "man1" / f"reweave-{verb}.1").read_text()
            options = re.findall(r"--[a-z][a-z-]+", self.run_installed(verb, "--help"))
            for option in options:
                self.assertIn(option.replace("-", "\\-"), page)
            for section in ("EXAMPLES", "EXIT STATUS", "FILES", "ENVIRONMENT"):
                self.assertIn(f"\n.SH {section}\n", page)
            environment = page.split(".SH ENVIRONMENT\n")[1].split(".SH")[0]
            for variable in re.findall(r"^\.B (\w+)$", environment, re.M):
                self.assertTrue(variable == "TMPDIR" or variable.encode() in program, variable)
        for completion in ("bash-completion/completions/reweave.bash", "zsh/vendor-completions/_reweave",
                           "fish/vendor_completions.d/reweave.fish"):
            text = (share / completion).read_text()
            self.assertTrue(all(verb in text for verb in verbs))


if __name__ == "__main__":
    Install.main()
