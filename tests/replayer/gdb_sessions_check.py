#!/usr/bin/env python3
"""gdb gives the same answers on a recording as on the live program.

    gdb_sessions_check.py REWEAVE FOLDER [--show] [--live] [--only NAME]... [--ways live|held|backward]...

sessions/PROGRAM.gdb has sessions for a program that is in FOLDER: a line `== NAME` begins one, and the following lines are
typed to gdb at the program's first instruction. Each session runs in plain gdb on the program, in `reweave replay -g 1` on
its recording, and in `reweave replay -g 1 --backward`. The answers to each command are compared, except for addresses, IDs,
messages about threads, and the program's output (its lines begin with `out:`).

A session may differ where the documentation describes a difference. `~ PATTERN` below a command leaves the lines that match
out of both answers. `! PATTERN` means that the recording's answer is not compared, but must match. `!held` and
`!backward` mean the same for one way only. `@ARGUMENTS` after the name are the program's.

Some virtual machines accept hardware watchpoints and breakpoints but never report a hit. There plain gdb gets software ones,
and sessions that need a hardware breakpoint do not run on a held replay.
"""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from plain_gdb import hardware_watchpoints_work

LIMIT_SECONDS = 600
BLOCKS = ("commands", "python", "define", "if", "while", "document")
SETTINGS = ("set width 0", "set height 0", "set confirm off", "set debuginfod enabled off", "set print thread-events off")
ALWAYS_WRONG = ("Traceback (most recent call last)", "Python Exception", "Divergence", "internal error", "internal-error",
                "Cannot insert breakpoint", "reweave::", "Error while running hook_stop", "core_on_", "core_note")
NOISE = re.compile("|".join((
    r"^\[New ", r"^\[Switching to ", r"^\[Thread ", r"^out:", r"^Using host libthread_db", r"^\[Attaching after", r"^\[Detaching ",
    r"^warning: Error disabling address space", r"^Download", r"^reweave: the replay", r"^\[Inferior \d+ \(.*\) detached\]",
)))
SAME = (
    (re.compile(r"\(gdb\) |\n> *(?=>)"), ""),
    (re.compile(r"0x[0-9a-f]{7,}"), "0xN"),
    (re.compile(r"\b(process|LWP|pid|tid)([ =])\d+"), r"\1\2N"),
    (re.compile(r'Thread 0xN \(LWP N\)( "[^"]*")?|Thread N\.N( "[^"]*")?'), "THREAD"),
    (re.compile(r'Thread \d+ "[^"]*" (hit|received|stopped)'), r"\1"),
    (re.compile(r'LWP N "[^"]*"'), "THREAD"),
    (re.compile(r"(?m)^hit "), ""),
    (re.compile(r"(?m)^(received|stopped)"), r"Program \1"),
    (re.compile(r"Thread N\.N \"[^\"]*\""), "THREAD"),
    (re.compile(r"(main=main@entry=0xN) <\w+>"), r"\1"),  # what our library calls it by
    (re.compile(r"\[Inferior 1 \(process N\)"), "[Inferior 1 (process N)"),
    (re.compile(r"(?m)[ \t]+$"), ""),
)
# Replaces gdb's names for hardware watchpoints and breakpoints by those for software ones.
WITHOUT_HARDWARE = ((re.compile(r"(Hardware (assisted )?|Temporary )(?=[bw])"), ""), (re.compile(r"\bhw (?=[bw])"), ""),
                    (re.compile(r"\b(w|b)(?=(atch|reak)point)"), lambda found: found[0].upper()), (re.compile(r"[ \t]+"), " "),
                    # gdb prints this twice for a software watchpoint.
                    (re.compile(r"(Watchpoint \d+ deleted because .*\n.*\n)\n\1"), r"\1"))


class Session:
    """The commands of a session, and how the answers may differ."""

    def __init__(self, program, title):
        name, _, arguments = title.partition("@")
        self.program, self.name, self.arguments = program, "%s: %s" % (program, name.strip()), arguments.split()
        self.commands, self.left_out, self.instead = [], {}, {}

    def add(self, line):
        found = re.match(r"(~|!(?:held|backward)?) (.*)", line)
        if found and found[1] == "~":
            self.left_out.setdefault(len(self.commands) - 1, []).append(re.compile(found[2]))
        elif found:
            for way in [found[1][1:]] if found[1][1:] else ["held", "backward"]:
                self.instead.setdefault((len(self.commands) - 1, way), []).append(re.compile(found[2]))
        elif self.commands and is_open(self.commands[-1]):
            self.commands[-1] += "\n" + line
        else:
            self.commands.append(line)

    def needs_hardware(self):
        """True if it has hardware breakpoints, or processes that lend their memory to a child, for which the replay's own
        gdb commands need one."""
        return self.program == "forks" or any(re.match(r"t?hbreak\b", command) for command in self.commands)

    def script(self, hardware=True):
        text = "" if hardware else "set can-use-hw-watchpoints 0\n"
        for number, command in enumerate(self.commands):
            command = command if hardware else re.sub(r"^(t?)hbreak\b", r"\1break", command)
            text += "echo \\n@@%d@@\\n\n%s\n" % (number, command)
        return "\n".join(SETTINGS) + "\n" + text + "echo \\n@@end@@\\n\n"


def is_open(command):
    """True if the lines of the command have a block that has not ended."""
    depth = 0
    for line in command.split("\n"):
        words = line.split()
        if words[:1] and (words[0] in BLOCKS[2:] or words == ["python"] or words[0] == "commands"):
            depth += 1
        elif words == ["end"]:
            depth -= 1
    return depth > 0


def read_sessions(path):
    sessions = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            sessions.append(Session(path.stem, line[3:]))
        elif line and not line.startswith("# ") and sessions:
            sessions[-1].add(line)
    return sessions


def converse(command, script):
    """Returns gdb's output. If gdb hangs, a last line reports it."""
    try:
        ran = subprocess.run(command, input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", timeout=LIMIT_SECONDS, check=False)
        return ran.stdout
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode(errors="replace") + "\n(does not come back)\n"


def answers_of(output):
    """Returns the answers by command number. `end` has the text after the last one."""
    parts = re.split(r"(?m)^(?:\(gdb\) )*@@(\d+|end)@@$", output)
    return dict(zip(parts[1::2], parts[2::2]))


def normal(text, left_out, hardware):
    for pattern, by in SAME if hardware else SAME + WITHOUT_HARDWARE:
        text = pattern.sub(by, text)
    lines = [line.strip() for line in text.split("\n")]
    return [line for line in lines if line and not NOISE.search(line) and not any(p.search(line) for p in left_out)]


class Checker:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.hardware = hardware_watchpoints_work(self.program("watches"), "main", "global")

    def ways(self, session):
        """Returns the ways in which the session runs on a recording here."""
        return [way for way in self.arguments.ways if self.hardware or way != "held" or not session.needs_hardware()]

    def recording(self, session):
        return os.path.join(self.folder, "-".join([session.program, *session.arguments]))

    def program(self, name):
        return os.path.join(os.path.abspath(self.arguments.folder), "session_" + name)

    def record(self, session):
        path = self.recording(session)
        if not os.path.exists(path):
            subprocess.run([self.arguments.reweave, "record", "--seed", "1", "-o", path, "--", self.program(session.program),
                            *session.arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_SECONDS, check=False)

    def output(self, session, way):
        if way == "live":
            command = ["gdb", "-q", "-nx", *(word for said in SETTINGS for word in ("-ex", said)), "-ex", "starti",
                       "--args", self.program(session.program), *session.arguments]
        else:
            command = [self.arguments.reweave, "replay", "-g", "1", *(["--backward"] if way == "backward" else []),
                       self.recording(session)]
        return converse(command, session.script(self.hardware or way != "live"))

    def check(self, session):
        """Runs a session in all ways. Returns [(way, problem)], and the text to print."""
        outputs = {way: self.output(session, way) for way in ("live", *self.ways(session))}
        live = answers_of(outputs["live"])
        problems = []
        for way in self.ways(session):
            answers = answers_of(outputs[way])
            text = ""
            for wrong in ALWAYS_WRONG:
                if wrong in outputs[way]:
                    text += "  in the answers: %s\n" % wrong
            for number in [*map(str, range(len(session.commands))), "end"]:
                text += self.compare(session, way, number, live.get(number), answers.get(number))
            if text:
                problems.append((way, text))
        return problems, outputs

    def compare(self, session, way, number, expected, found):
        index = len(session.commands) if number == "end" else int(number)
        command = "the end" if number == "end" else session.commands[index]
        if expected is None or found is None:
            return "" if expected is found else "  %s: no answer\n" % command
        left_out = session.left_out.get(index, [])
        instead = session.instead.get((index, way))
        if instead is not None:
            missing = [pattern.pattern for pattern in instead if not pattern.search(found)]
            return "".join("  %s: not in the answer: %s\n%s\n" % (command, each, found) for each in missing)
        expected, found = (normal(answer, left_out, self.hardware) for answer in (expected, found))
        if expected == found:
            return ""
        differences = difflib.unified_diff(expected, found, "live", way, lineterm="", n=1)
        return "  %s:\n" % command + "".join("    %s\n" % line for line in list(differences)[2:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reweave")
    parser.add_argument("folder", help="where the programs are")
    parser.add_argument("--show", action="store_true", help="what gdb writes, also where it is right")
    parser.add_argument("--only", action="append", default=[], help="sessions whose names contain this")
    parser.add_argument("--ways", action="append", choices=("held", "backward"), default=[])
    arguments = parser.parse_args()
    arguments.ways = arguments.ways or ["held", "backward"]
    sessions = [session for path in sorted((pathlib.Path(__file__).parent / "sessions").glob("*.gdb"))
                for session in read_sessions(path)]
    if arguments.only:
        sessions = [session for session in sessions if any(word in session.name for word in arguments.only)]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="reweave-sessions-") as folder:
        checker = Checker(arguments, folder)
        if not checker.hardware:
            print("no hardware watchpoint stops anything here: software ones are compared")
        for session in sessions:
            checker.record(session)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for session, (problems, outputs) in zip(sessions, pool.map(checker.check, sessions)):
                failed += bool(problems)
                for way, text in problems:
                    print("=== %s (%s)\n%s" % (session.name, way, text), end="", flush=True)
                if arguments.show:
                    for way, output in outputs.items():
                        print("--- %s (%s)\n%s" % (session.name, way, output), flush=True)
    print("%d sessions, %d failed" % (len(sessions), failed))
    return 1 if failed or not sessions else 0


if __name__ == "__main__":
    sys.exit(main())
