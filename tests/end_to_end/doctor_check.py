#!/usr/bin/env python3
"""The verb doctor: what it reports about this machine and about programs built in several ways, and what is missing."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest

from scratch_case import ScratchCase

LIMIT = 600  # seconds
BAD_INPUT, SYSTEM = 2, 4
MAIN = "int main(void) { return 0; }"


class Doctor(ScratchCase):
    def doctor(self, *arguments, status=0, reweave=None, env=None):
        done = subprocess.run([reweave or self.build / "reweave", "doctor", *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=LIMIT, env=env)
        self.assertEqual((done.returncode, done.stderr), (status, b""), done.stdout)
        return done.stdout.decode()

    def checks(self, *arguments, **options):
        """Returns the rows of the JSON report by name."""
        whole = json.loads(self.doctor("--json", *arguments, **options))
        self.assertEqual((whole["format"], whole["version"]), ("reweave-doctor", 1))
        fails = any(check["verdict"] == "fail" for check in whole["checks"])
        self.assertEqual(whole["can_record"], not fails)
        return {check["name"]: check for check in whole["checks"]}

    def check_program(self, program, expected, status=0):
        """`expected`: {name: (verdict, words)}"""
        checks = self.checks(program, status=status)
        for name, (verdict, words) in expected.items():
            self.assertEqual(checks[name]["verdict"], verdict, checks[name])
            self.assertIn(words, checks[name]["text"])

    def test_this_machine(self):
        checks = self.checks()
        for name in ("kernel", "system calls", "limits", "own parts", "recording"):
            self.assertEqual(checks[name]["verdict"], "ok", checks[name])
        self.assertIn("could", checks["rr"]["text"])
        text = self.doctor()
        for name, check in checks.items():
            self.assertIn(f"{check['verdict']:4}  {name}: ", text)

    def test_programs(self):
        self.check_program(self.compiled("plain", MAIN, "-g"), {
            "program": ("ok", "/plain"), "linking": ("ok", "dynamic"), "debug information": ("ok", "DWARF"),
            "instrumentation": ("warn", "none"), "test framework": ("ok", "none")})
        self.check_program(self.compiled("bare", MAIN), {"debug information": ("warn", "none")})
        self.check_program(self.compiled("static", MAIN, "-g", "-static"), {"linking": ("warn", "static")})
        self.check_program(self.compiled("packed", MAIN, "-g", "-gz"), {"debug information": ("ok", "compressed")})
        subprocess.run(["cc", "-x", "c", "-", "-g", "-gsplit-dwarf", "-o", "split"], input=MAIN, text=True, check=True,
                       cwd=self.folder, timeout=LIMIT)
        self.check_program(self.folder / "split", {"debug information": ("ok", "split")})
        self.check_program(self.compiled("tsan", MAIN, "-g", "-fsanitize=thread"),
                           {"instrumentation": ("ok", "each memory access")})
        self.check_program(self.compiled("ubsan", "int main(int c, char** v) { return c * v[0][c]; }", "-fsanitize=undefined"), {"instrumentation": ("warn", "undefined")})
        stripped = self.compiled("stripped", MAIN, "-g")
        subprocess.run(["objcopy", "--only-keep-debug", stripped, f"{stripped}.debug"], check=True, timeout=LIMIT)
        subprocess.run(["objcopy", "--strip-debug", f"--add-gnu-debuglink={stripped}.debug", stripped], check=True,
                       timeout=LIMIT)
        self.check_program(stripped, {"debug information": ("warn", "file of its own")})

    def test_a_script(self):
        script = self.folder / "script"
        script.write_text("#!/bin/sh -e\n\x1b[31mtrue\n")
        script.chmod(0o755)
        self.check_program(script, {"program": ("ok", "a script for /bin/sh -e")})
        script.write_text("#!/bin/\x1b[31msh\n")
        self.assertNotIn("\x1b", self.doctor(script))

    @unittest.skipUnless(pathlib.Path("/usr/include/boost/test/included/unit_test.hpp").exists(), "no Boost.Test")
    def test_a_test_framework(self):
        (self.folder / "cases.cc").write_text("#define BOOST_TEST_MODULE cases\n"
                                              "#include <boost/test/unit_test.hpp>\nBOOST_AUTO_TEST_CASE(one) {}\n")
        subprocess.run(["c++", "-DBOOST_TEST_DYN_LINK", "cases.cc", "-o", "cases", "-lboost_unit_test_framework"],
                       cwd=self.folder, check=True, timeout=LIMIT)
        self.check_program(self.folder / "cases", {"test framework": ("ok", "Boost.Test")})

    def test_programs_that_cannot_be_recorded(self):
        (self.folder / "text").write_text("hello\n")
        (self.folder / "text").chmod(0o755)
        (self.folder / "cut").write_bytes((self.build / "reweave").read_bytes()[:5000])
        (self.folder / "cut").chmod(0o755)
        for program, words in ((self.folder / "missing", "No such file"), (self.folder / "text", "neither an ELF program"),
                               (self.compiled("asan", MAIN, "-fsanitize=address"), "AddressSanitizer")):
            self.check_program(program, {"program": ("fail", words)}, status=BAD_INPUT)
        self.doctor(self.folder / "cut")

    def test_what_is_missing(self):
        (self.folder / "bin").mkdir()
        shutil.copy(self.build / "reweave", self.folder / "bin")
        checks = self.checks(reweave=self.folder / "bin" / "reweave", status=SYSTEM)
        self.assertEqual((checks["own parts"]["verdict"], checks["recording"]["verdict"]), ("fail", "fail"))
        self.assertIn("reweave-core", checks["own parts"]["text"])
        checks = self.checks(env={**os.environ, "PATH": str(self.folder / "bin")})
        self.assertEqual((checks["gdb"]["verdict"], checks["gdb"]["remedy"]), ("warn", "apt install gdb"))
        self.assertEqual(checks["gcc"]["text"], "not installed")

    def test_limits(self):
        done = subprocess.run(["sh", "-c", 'ulimit -n 100; exec "$0" doctor', self.build / "reweave"], capture_output=True,
                              text=True, timeout=LIMIT)
        self.assertEqual(done.returncode, SYSTEM, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^fail  limits: .*descriptors")


if __name__ == "__main__":
    Doctor.main()
