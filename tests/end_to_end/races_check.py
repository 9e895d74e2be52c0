#!/usr/bin/env python3
"""Compares `record --races` with ThreadSanitizer itself. The programs of tests/end_to_end/races are compiled by gcc and
by clang. Each runs with the compiler's own runtime until it reports something, at most 200 times, and is recorded under
several schedules. Both must find the same pairs of lines, summarise them in the same words, and end with the same
statuses. Where ThreadSanitizer finds nothing, Reweave must find nothing. --more N: N schedules per program."""
import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

from scratch_case import ScratchCase

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests/end_to_end/races"
PROGRAMS = sorted(FOLDER.glob("*.c*"))
CLANG_ONLY = {"virtual_call"}  # gcc does not announce virtual calls to its runtime
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
LIMIT_SECONDS = 600
NATIVE_RUNS = 200  # many, because the timing of the threads decides which access comes first
SCHEDULES = 4
RACE = 66
FRAME = re.compile(r"^    #\d+ (?P<function>.+?) (?P<file>/\S+\.cc?):(?P<line>\d+)")
Report = collections.namedtuple("Report", "kind places summary")


def reports_of(text):
    """Returns a run's reports. A report has, for each of its stacks, the innermost place in the program itself."""
    found = []
    for report in re.findall(r"^WARNING: ThreadSanitizer: .*?^SUMMARY: .*?$", text, re.M | re.S):
        kind = re.match(r"WARNING: ThreadSanitizer: (.*) \(pid=", report).group(1)
        places = []
        for part in report.split("\n\n"):
            about = part.lstrip("\n").splitlines()
            if any(line.lstrip().startswith(("Location", "Mutex M", "Thread T", "As if")) and "acquired here" not in line
                   for line in about):
                continue
            own = [m for m in map(FRAME.match, about) if m and "/tests/end_to_end/races/" in m["file"]]
            if own:
                places.append((own[0]["function"], int(own[0]["line"])))
        summary = re.search(r"^SUMMARY: ThreadSanitizer: (.*)$", report, re.M).group(1)
        found.append(Report(kind, tuple(places), re.sub(r"(\.cc?:\d+):\d+", r"\1", summary)))
    return found


def pairs_of(reports):
    """Returns the pairs of places. A use after free counts as a data race: the schedule decides how it is reported."""
    return {(report.kind.replace("heap-use-after-free", "data race"), tuple(sorted(report.places))) for report in reports}


class Races(ScratchCase):
    more = SCHEDULES

    def run_program(self, command, options=""):
        environment = {**os.environ, "TSAN_OPTIONS": ("atexit_sleep_ms=0 " + options).strip()}
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT_SECONDS,
                              env=environment, check=False)
        return done.returncode, done.stderr

    def record(self, program, seed, options="", arguments=()):
        recording = self.folder / "recording"
        shutil.rmtree(recording, ignore_errors=True)
        return self.run_program([self.build / "reweave", "record", "--races", "--seed", str(seed), "-o", recording,
                                 *arguments, "--", program], options)

    def compiled_by(self, compiler, source, *flags):
        path = self.folder / f"{source.stem}-{compiler}"
        command = {".c": compiler, ".cc": {"gcc": "g++", "clang": "clang++"}[compiler]}[source.suffix]
        subprocess.run([command, "-g", "-O1", "-w", "-fsanitize=thread", "-pthread", source, "-o", path, *flags],
                       check=True, timeout=LIMIT_SECONDS)
        return path

    def native(self, program, is_right):
        """Runs the program with ThreadSanitizer until a run has reports. Returns all reports and all exit statuses."""
        reports, statuses = [], set()
        for _ in range(3 if is_right else NATIVE_RUNS):
            status, errors = self.run_program([program])
            reports += reports_of(errors)
            statuses.add(status)
            if not is_right and reports:
                break
        return reports, statuses

    def check_program(self, compiler, source):
        is_right = source.stem.endswith("_ok")
        program = self.compiled_by(compiler, source)
        natives, statuses = self.native(program, is_right)
        self.assertEqual(bool(natives), not is_right, "ThreadSanitizer disagrees with the test")
        found = []
        for seed in range(1, self.more + 1):
            status, errors = self.record(program, seed)
            ours = reports_of(errors)
            self.assertIn(status, statuses, errors)
            self.assertEqual(bool(ours), not is_right, errors)
            found += ours
        # The schedule decides which accesses happen and in which order, so more native runs may show more pairs.
        for _ in range(NATIVE_RUNS):
            if pairs_of(found) <= pairs_of(natives):
                break
            natives += reports_of(self.run_program([program])[1])
        self.assertLessEqual(pairs_of(found), pairs_of(natives))
        summaries = {(report.kind, report.places): report.summary for report in natives}
        for report in found:
            expected = summaries.get((report.kind, report.places))
            if expected is None:  # the native runs had only the other order
                expected = f"{report.kind} {source}:{report.places[0][1]} in {report.places[0][0]}"
            # clang's runtime has no file for its own functions on top of a stack.
            if " in __interceptor_" not in expected and "(/" not in expected and "<null>" not in expected:
                self.assertEqual(report.summary, expected)

    def test_as_thread_sanitizer(self):
        self.assertGreater(len(PROGRAMS), 30)
        for compiler in COMPILERS:
            for source in [p for p in PROGRAMS if compiler == "clang" or p.stem not in CLANG_ONLY]:
                with self.subTest(compiler=compiler, program=source.stem):
                    self.check_program(compiler, source)

    def test_unfair_schedules(self):
        """Under --chaos, a woken thread may continue before the thread that woke it has logged anything more."""
        correct = [path for path in PROGRAMS if path.stem.endswith("_ok")]
        self.assertGreater(len(correct), 15)
        for source in correct:
            with self.subTest(source.stem):
                program = self.compiled_by("gcc", source)
                for seed in range(1, self.more + 1):
                    status, errors = self.record(program, seed, arguments=["--chaos"])
                    self.assertEqual((status, reports_of(errors)), (0, []))

    def test_explored_runs(self):
        for name, races in (("many_places", 3), ("mutex_ok", 0)):
            with self.subTest(name):
                program = self.compiled_by("gcc", FOLDER / f"{name}.c")
                recording, found = self.folder / f"{name}-recording", self.folder / f"{name}-found"
                self.run_program([self.build / "reweave", "record", "--seed", "1", "-o", recording, "--", program])
                done = subprocess.run([self.build / "reweave", "explore", recording, "--races", "--runs", "20",
                                       "--verify", "3", "-o", found], capture_output=True, text=True, check=False,
                                      timeout=LIMIT_SECONDS)
                self.assertEqual(done.returncode, 10 if races else 0, done.stdout + done.stderr)
                stories = [path.read_text() for path in found.glob("failure-*/story.txt")]
                self.assertEqual(len(stories), races, done.stdout)
                self.assertEqual(len({story.split("SUMMARY: ")[1] for story in stories}), races)
                self.assertRegex(done.stdout, r"\n\d+ of the runs were checked for races\n")

    def test_options(self):
        program = self.compiled_by("gcc", FOLDER / "many_places.c")
        rules, log = self.folder / "rules", self.folder / "log"
        rules.write_text("# first\nrace:^first$\nleak:other\nrace_top:nobody\n")
        for options, status, count, words in (
                ("", RACE, 3, "ThreadSanitizer: reported 3 warnings"), ("exitcode=7", 7, 3, ""), ("exitcode=0", 0, 3, ""),
                ("halt_on_error=1", RACE, 1, ""), ("report_bugs=0", 0, 0, ""),
                (f"suppressions={rules}", RACE, 2, "1 race:^first$"), (f"suppressions={rules}", RACE, 2, "'leak:other'"),
                (f"suppressions={rules}.none", 2, 0, "cannot be read"), ("exitcode=x", 2, 0, "not a number")):
            with self.subTest(options):
                found, errors = self.record(program, 1, options)
                self.assertEqual((found, len(reports_of(errors))), (status, count), errors)
                self.assertIn(words, errors)
        status, errors = self.record(program, 1, f"log_path={log}")
        self.assertEqual((status, reports_of(errors)), (RACE, []))
        (written,) = self.folder.glob("log.*")
        self.assertEqual(len(reports_of(written.read_text())), 3)
        called = self.compiled_by("gcc", FOLDER / "many_places.c")
        rules.write_text(f"called_from_lib:{called.name}\n")
        self.assertEqual(self.record(called, 1, f"suppressions={rules}")[0], 0)

    def test_as_a_test_of_ci(self):
        program = self.compiled_by("gcc", FOLDER / "plain_writes.c")
        self.assertEqual(self.record(program, 1, arguments=["--keep=failures"])[0], RACE)
        self.assertTrue(self.recording.exists())
        right = self.compiled_by("gcc", FOLDER / "mutex_ok.c")
        self.assertEqual(self.record(right, 1, arguments=["--keep=failures"])[0], 0)
        self.assertFalse(self.recording.exists())
        status, errors = self.record(program, 1, arguments=["--until-fail", "3"])
        self.assertEqual(status, RACE, errors)
        self.assertIn("run 1 failed", errors)

    def test_plain_programs_are_told_apart(self):
        status, errors = self.record("/bin/true", 1)
        self.assertEqual((status, errors.count("\n")), (2, 1), errors)
        self.assertIn("-fsanitize=thread", errors)
        self.assertEqual(self.record("/bin/false", 1)[0], 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--more", type=int, default=SCHEDULES)
    Races.more = parser.parse_known_args()[0].more
    sys.argv = [each for i, each in enumerate(sys.argv) if each != "--more" and (i == 0 or sys.argv[i - 1] != "--more")]
    Races.main()
