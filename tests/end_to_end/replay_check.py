#!/usr/bin/env python3
"""Records a program of tests/programs/subjects.json, replays the recording, and compares what a user can see:
standard output, standard error and exit status. Then traces the recording: the trace must be complete.

    replay_check.py --build BUILD [--sanitized] [--chaos] NAME...

With --sanitized, takes the builds with -fsanitize=thread.

Names may be `all`, `behaviour`, `correct` or `buggy`. Programs of kind behaviour must exit 0 while being recorded;
the others may end in any way, but the replay must end in the same way.

REWEAVE_ROUNDS=N repeats each program N times. Every second round, or with --chaos every round, records with --chaos.
REWEAVE_CHECKSUMS=1 records with checksums and replays with --check. REWEAVE_FILL=1 fills the core's stacks with
different bytes when recording and when replaying, which reveals a program that sees what the core left there.
REWEAVE_KEEP=DIR keeps the recordings of failed rounds in DIR.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "programs"
LIMIT_SECONDS = int(os.environ.get("REWEAVE_LIMIT", "180"))
PATIENCE_SECONDS = 3  # for programs that hang because of their bug
DIVERGED = 3
INTERNAL = 70


class Failure(Exception):
    """A run did not behave as it should; the message says how."""


def run(command, stdin, may_hang=False, fill=None):
    """Returns the exit status, standard output and standard error of a command. Raises Failure if it hangs. If it
    `may_hang`, first interrupts it as a terminal would. `fill`: the byte to fill the core's stacks with."""
    environment = os.environ if fill is None else {**os.environ, "REWEAVE_STACK_FILL": str(fill)}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as given:
        given.write(stdin.encode())
        given.seek(0)
        # Files, not pipes: if a process outlives the command, we must not wait until it closes the pipe.
        process = subprocess.Popen(command, stdin=given, stdout=output, stderr=errors, start_new_session=True, env=environment)
        endings = [(PATIENCE_SECONDS, signal.SIGINT)] if may_hang else []
        for seconds, ending in [*endings, (LIMIT_SECONDS, signal.SIGKILL)]:
            try:
                process.wait(timeout=seconds)
                break
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, ending)
        process.wait()
        output.seek(0)
        errors.seek(0)
        result = process.returncode, output.read(), errors.read()
    if result[0] == -signal.SIGKILL:
        raise Failure(f"still running after {LIMIT_SECONDS} s: {' '.join(map(str, command))}\n{shown(result[2])}")
    return result


def same_message(errors):
    """Returns standard error without the lines that name the recording, which differ in a replay."""
    return b"\n".join(line for line in errors.split(b"\n") if b"the recording up to there is" not in line)


def shown(data):
    text = data.decode(errors="replace")
    return text if len(text) < 1500 else text[:700] + "\n[...]\n" + text[-700:]


def check_trace(arguments, recording):
    """Raises Failure unless the recording can be traced to its end."""
    status, _, errors = run([arguments.build / "reweave", "trace", "-o", recording.parent / "trace", recording], "")
    if status != 0 or b"incomplete" in errors:
        raise Failure(f"trace: exit status {status}\n{shown(errors)}")


def check_round(arguments, subject, folder, chaos):
    """Records and replays once. Raises Failure."""
    programs = arguments.build / "tests" / "programs"
    program = programs / "tsan" / f"{subject['name']}.tsan" if arguments.sanitized else programs / "plain" / subject["name"]
    recording = pathlib.Path(folder) / "recording"
    command = [arguments.build / "reweave", "record", "-o", recording]
    command += ["--chaos"] if chaos else []
    command += ["--checksums"] if arguments.checksums else []
    recorded = run(command + ["--", program, *subject["argv"]], subject["stdin"], subject.get("outcome") == "hang",
                   arguments.fills[0])
    if subject["kind"] == "behaviour" and recorded[0] != 0:
        raise Failure(f"recording: exit status {recorded[0]}\n{shown(recorded[1])}{shown(recorded[2])}")
    if recorded[0] in (DIVERGED, INTERNAL):
        raise Failure(f"recording: exit status {recorded[0]}\n{shown(recorded[2])}")
    replayed = run([arguments.build / "reweave", "replay", *(["--check"] if arguments.checksums else []), recording], "",
                   fill=arguments.fills[1])
    if recorded[0] != replayed[0]:
        raise Failure(f"exit status {recorded[0]} became {replayed[0]}\n{shown(replayed[2])}")
    if recorded[1] != replayed[1]:
        raise Failure(f"standard output differs\n--- recorded\n{shown(recorded[1])}\n--- replayed\n{shown(replayed[1])}")
    if same_message(recorded[2]) != same_message(replayed[2]):
        raise Failure(f"standard error differs\n--- recorded\n{shown(recorded[2])}\n--- replayed\n{shown(replayed[2])}")
    check_trace(arguments, recording)


def check_subject(arguments, subject):
    """Does all rounds of one program. Returns the number of failed ones."""
    failures = 0
    for number in range(arguments.rounds):
        chaos = arguments.chaos or number % 2 == 1
        folder = tempfile.mkdtemp(prefix="reweave-e2e-")
        try:
            check_round(arguments, subject, folder, chaos)
        except Failure as failure:
            failures += 1
            name = f"{subject['name']}{' --chaos' if chaos else ''}"
            print(f"FAILED {name}, round {number}: {failure}", flush=True)
            if arguments.keep:
                shutil.move(folder, pathlib.Path(arguments.keep) / f"{subject['name']}-{os.getpid()}-{number}-{time.time_ns()}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--chaos", action="store_true", help="in every round")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("names", nargs="+")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    arguments.rounds = int(os.environ.get("REWEAVE_ROUNDS", "1"))
    arguments.checksums = os.environ.get("REWEAVE_CHECKSUMS", "0") == "1"
    arguments.fills = (0x55, 0xaa) if os.environ.get("REWEAVE_FILL", "0") == "1" else (None, None)
    arguments.keep = os.environ.get("REWEAVE_KEEP", "")
    subjects = [row for row in json.loads((PROGRAMS / "subjects.json").read_text())
                if row["name"] in arguments.names or row["kind"] in arguments.names or "all" in arguments.names]
    subjects = [row for row in subjects if row["tsan"] or not arguments.sanitized]
    if not subjects:
        sys.exit(f"no program is called {' or '.join(arguments.names)}")
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        failures = sum(pool.map(lambda subject: check_subject(arguments, subject), subjects))
    print(f"{len(subjects)} programs, {len(subjects) * arguments.rounds} rounds, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
