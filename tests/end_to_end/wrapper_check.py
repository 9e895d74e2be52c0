#!/usr/bin/env python3
"""`reweave record` in front of every test of a suite: what is kept, how it is named, and what a killed test leaves."""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 600  # seconds for one run


class Suite:
    def __init__(self, build, folder):
        self.reweave, self.folder = str(build / "reweave"), folder
        self.environment = {**os.environ, "REWEAVE_DIR": str(folder)}

    def start(self, *command):
        return subprocess.Popen([self.reweave, *command], env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *command):
        process = self.start(*command)
        printed, errors = process.communicate(timeout=LIMIT)
        return process.returncode, printed, errors

    def kept(self):
        return sorted(path.name for path in self.folder.iterdir() if not path.is_symlink())


def passed_tests_leave_nothing(suite):
    status, _, errors = suite.run("record", "--keep=failures", "--", "true")
    if (status, errors, suite.kept()) != (0, "", []):
        yield f"a passed test ended with {status}, printed {errors!r}, left {suite.kept()}"


def failed_tests_say_how_to_replay(suite):
    tests = [suite.start("record", "--keep=failures", "--", "sh", "-c", f"echo test {n}; exit {n}") for n in range(1, 7)]
    for n, test in enumerate(tests, 1):
        printed, errors = test.communicate(timeout=LIMIT)
        command = re.search(r"to replay it: reweave (.*)", errors)
        if test.returncode != n or printed != f"test {n}\n" or not command:
            yield f"test {n} ended with {test.returncode}: {printed} {errors}"
            continue
        status, replayed, _ = suite.run(*command[1].split())
        if (status, replayed) != (n, printed):
            yield f"test {n} replayed with {status}: {replayed}"
    if len(suite.kept()) != len(tests):
        yield f"tests that ran at once left {suite.kept()}"


def too_large_recordings_are_dropped(suite):
    before = suite.kept()
    status, printed, errors = suite.run("record", "--max-size=1KB", "--", "sh", "-c", "seq 20000; exit 3")
    if status != 3 or not printed.endswith("\n20000\n") or "dropped" not in errors or suite.kept() != before:
        yield f"a recording that grew too large: {status}, {errors!r}, {set(suite.kept()) - set(before)}"


def killed_tests_replay(suite):
    """A test hangs, and its runner kills it: by a signal to the wrapper alone, or to all of its processes."""
    for whole_group in (False, True):
        path = suite.folder / f"hangs-{whole_group}"
        test = subprocess.Popen([suite.reweave, "record", "--keep=failures", "-o", path, "--", "sh", "-c",
                                 "echo hangs; exec sleep 1000"],
                                start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while test.stdout.readline() != "hangs\n":
            pass
        time.sleep(0.3)  # probably sleeps by now; otherwise it dies a little earlier
        (os.killpg if whole_group else os.kill)(test.pid, signal.SIGTERM)
        test.communicate(timeout=LIMIT)
        status, printed, errors = suite.run("replay", str(path))
        if (test.returncode, status, printed) != (143, 143, "hangs\n"):
            yield f"killed with {test.returncode}, replayed with {status}: {printed!r} {errors!r}"


def scripts_for_ci_say_what_was_kept(suite):
    script = pathlib.Path(__file__).resolve().parents[2] / "scripts/ci/record-tests"
    done = subprocess.run([script, suite.folder / "ci", "sh", "-c", '$WRAP true; $WRAP sh -c "exit 7"'], text=True,
                          env={**os.environ, "REWEAVE": suite.reweave}, capture_output=True, timeout=LIMIT)
    command = re.search(r"recorded failure: (\S+ replay \S+)", done.stdout)
    if done.returncode != 7 or done.stdout.count("recorded failure") != 1 or not command:
        yield f"record-tests ended with {done.returncode}: {done.stdout} {done.stderr}"
    elif subprocess.run(command[1].split(), capture_output=True, timeout=LIMIT).returncode != 7:
        yield f"{command[1]} does not replay the failure"
    else:
        files = json.loads(suite.run("traceinfo", command[1].split()[-1])[1])["files"]
        if not files or not all(file["stored"] for file in files):
            yield f"the kept recording is not packed: {files}"


def hidden_values_stay_out(suite):
    """The program sees a hidden value, but the recording does not contain it. A replay shows asterisks, and reports that."""
    value = "swordfish"
    suite.environment = {**suite.environment, "MY_TOKEN": value, "PLAIN": value}
    hidden = "*" * len(value)
    for options, name, shown in (([], "MY_TOKEN", hidden), ([], "PLAIN", value), (["--keep-env=my_t*"], "MY_TOKEN", value),
                                 (["--hide-env=PLAIN"], "PLAIN", hidden), (["--hide-env=PLAIN"], "MY_TOKEN", hidden),
                                 (["--hide-env=P*=sword*"], "PLAIN", hidden), (["--hide-env=P*=other*"], "PLAIN", value),
                                 (["--hide-env", ""], "MY_TOKEN", value), (["--hide-env", "PLAIN"], "PLAIN", hidden)):
        path = suite.folder / "hidden"
        recorded = suite.run("record", *options, "-o", str(path), "--", "printenv", name)
        replayed = suite.run("replay", str(path))
        if recorded != (0, value + "\n", "") or replayed[:2] != (0, shown + "\n"):
            yield f"{options}, {name}: recorded {recorded}, replayed {replayed}"
        if ("asterisks" in replayed[2]) != (options != ["--hide-env", ""]) and options != ["--keep-env=my_t*"]:
            yield f"{options}: the replay says {replayed[2]!r}"
        shutil.rmtree(path)
    acts = ["sh", "-c", f'test "$MY_TOKEN" = {value} && cat /dev/null && echo known']
    path = suite.folder / "acts"
    recorded, replayed = suite.run("record", "-o", str(path), "--", *acts), suite.run("replay", str(path))
    if recorded != (0, "known\n", "") or replayed[0] != 3 or "--keep-env" not in replayed[2]:
        yield f"a program that acts on a hidden value: recorded {recorded}, replayed {replayed}"
    for given, expected in ((["--env", "MY_TOKEN"], (0, "known\n", "")), (["--env", f"MY_TOKEN={value}"], (0, "known\n", "")),
                            (["--env", "MY_TOKEN=fish"], 2), (["--env", "PLAIN"], 2), (["--env", "MY_TOKEN=bulldozer"], 3)):
        replayed = suite.run("replay", *given, str(path))
        if replayed != expected and replayed[0] != expected:
            yield f"replayed with {given}: {replayed}"
    suite.environment["REWEAVE_ENV_MY_TOKEN"] = value
    explored = suite.run("explore", "--runs", "1", str(path))
    if explored[0] != 0:
        yield f"explored with the value: {explored}"
    del suite.environment["REWEAVE_ENV_MY_TOKEN"]
    shutil.rmtree(path)
    recorded = suite.run("record", "-o", str(path), "--", "sh", "-c", "exit 3")
    if recorded[0] != 3 or "the value of MY_TOKEN looks secret" not in recorded[2]:
        yield f"a failing run with a hidden value: recorded {recorded}"
    shutil.rmtree(path)


def refused_programs_leave_nothing(suite):
    before = suite.kept()
    status, _, errors = suite.run("record", "--", "/etc/passwd")
    if status != 2 or suite.kept() != before:
        yield f"a file that is no program: {status}, {errors!r}, {suite.kept()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build
    found = []
    for check in (passed_tests_leave_nothing, failed_tests_say_how_to_replay, too_large_recordings_are_dropped,
                  killed_tests_replay, scripts_for_ci_say_what_was_kept, hidden_values_stay_out, refused_programs_leave_nothing):
        with tempfile.TemporaryDirectory(prefix="reweave-wrapper-") as folder:
            found += check(Suite(build, pathlib.Path(folder)))
    print("\n".join(found) or "recordings of tests are kept as asked")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
