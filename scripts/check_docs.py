#!/usr/bin/env python3
"""Checks that what the documents name exists.

    scripts/check_docs.py [--reweave build/reweave]

Reads README.md, CONTRIBUTING.md and docs/. These must exist if text in backticks, a link or a shell block names them:
files and folders; functions and other names of code, somewhere in the sources; commands in scripts/ and tests/ with
their options; with --reweave also verbs and options of verbs, as `reweave VERB --help` lists them. A figure in docs/
must have a command in the documents, or a script, that makes it. Exit status 1 if something is missing.
"""
import argparse
import functools
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import manual  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = (".h", ".cc", ".c", ".S", ".py", ".inc", ".capnp", ".ld", ".js", ".css", ".sh", ".build", ".json", ".cmake")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
SPAN = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)\)")
PATH = re.compile(r"[\w.+-]+(?:/[\w.+-]+)*/?")
IDENTIFIER = re.compile(r"\w+(?:::\w+)*")
# `function` in `file`
FUNCTION = re.compile(r"`(\w+)`,? in\s+`((?:[\w.-]+/)*[\w-]+\.(?:h|cc|c|S|py))`")
# `docs/page.md`, "Section": the title of a section or paragraph of that page.
SECTION = re.compile(r'`(docs/[\w.-]+\.md)`[,:]\s+("[^"]+"(?:,\s+"[^"]+")*)')
OPTION = re.compile(r"--[a-z][a-z-]*")
# Options in examples of other programs' commands.
FOREIGN_COMMANDS = ("gcc", "g++", "clang", "ctest", "cmake", "meson", "ninja", "pkg-config", "apt-get", "pytest", "env", "diff",
                    "git", "make", "cat", "gdb", "strace", "bash", "docker")
# This file contains made-up names.
OWN_TEST = "tests/scripts/docs_test.py"
# Names in documents that are not ours: those of the kernel, of the C library, of other programs and of files that we
# write.
EXTERNAL = {"LD_PRELOAD", "O_DIRECT", "libtsan_preinit", "SYS_write", "GITHUB_STEP_SUMMARY", "CMAKE_TEST_LAUNCHER",
            "CMAKE_CROSSCOMPILING_EMULATOR", "AT_RANDOM", "AutoCloseFd"}


@functools.cache
def tracked():
    """Files of the tree, as paths from its root."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True, check=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).exists()}


def sources():
    return sorted(name for name in tracked() if not name.startswith("docs/") and name != OWN_TEST)


@functools.cache
def folders():
    return {parent.as_posix() for name in tracked() for parent in pathlib.PurePosixPath(name).parents} - {"."}


@functools.cache
def base_names():
    return {name.rsplit("/", 1)[-1] for name in tracked()}


@functools.cache
def words():
    """Every word of the sources, and the names of files without their endings."""
    found = {pathlib.PurePosixPath(name).stem for name in tracked()}
    for name in sources():
        if name.endswith(CODE) or "." not in name.rsplit("/", 1)[-1]:
            found.update(re.findall(r"\w+", (ROOT / name).read_text(encoding="utf-8", errors="replace")))
    return found


@functools.cache
def script_text(path):
    """The script, and the modules beside it that it may import."""
    beside = [name for name in tracked() if name.startswith(path.rsplit("/", 1)[0] + "/") and name.endswith(".py")]
    return "\n".join((ROOT / name).read_text(encoding="utf-8") for name in sorted({path, *beside}))


def path_problems(path):
    """Checks a path that begins with one of our folders, or the bare name of a source file."""
    clean = path.rstrip("/")
    if "/" in clean:
        top = {name.split("/")[0] for name in folders()} | {"core", "syscalls", "supervisor"}
        # A program of the build has its source's name.
        there = {clean, clean + ".cc", clean + ".c"} & (tracked() | folders())
        if clean.split("/")[0] in top and not there:
            yield f"there is no {path}"
    elif clean.endswith((".h", ".cc", ".S", ".py", ".inc", ".capnp")) and clean not in base_names():
        yield f"there is no file {path}"


def name_problems(text):
    """Checks a name of code: a name with a `_`, a `::`, or small and capital letters."""
    if not IDENTIFIER.fullmatch(text):
        return
    if "_" not in text and "::" not in text and not re.search(r"[a-z][A-Z]", text):
        return
    # Macros compose ThreadSanitizer's ABI from parts.
    missing = [word for word in text.split("::")
               if word not in words() and word not in EXTERNAL and not word.startswith("__tsan_")]
    if missing:
        yield f"no source has {missing[0]}" + (f" ({text})" if missing[0] != text else "")


def script_problems(command):
    """Checks a command line that begins with a script of the tree."""
    words_of = command.split()
    path = words_of[0]
    if path not in tracked():
        yield f"there is no script {path}"
        return
    for number, word in enumerate(words_of[1:]):
        option = OPTION.match(word)
        if option and not re.search(rf"{option[0]}\b", script_text(path)):
            yield f"{path} has no option {option[0]}"
        elif number == 0 and path == "scripts/bench" and re.fullmatch(r"[a-z]+", word) and f'"{word}"' not in script_text(path):
            yield f"{path} has no table {word}"


@functools.cache
def gdb_text():
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "replayer" / "gdb").glob("*.py")))


@functools.cache
def gdb_commands():
    """The commands `reweave NAME` in gdb; some take their name from a member."""
    return set(re.findall(r'"reweave ([\w-]+)"', gdb_text()) + re.findall(r'^    name = "([\w-]+)"$', gdb_text(), re.MULTILINE))


class Verbs:
    """The options that the output of `reweave --help` and of each verb's --help names."""

    def __init__(self, reweave):
        self.options = {"": {"--help", "--version"}}
        for item in manual.verbs_of(manual.read_help(reweave)):
            shown = manual.read_help(reweave, item.name)
            self.options[item.name] = {option for section in shown.sections.values() for each in section
                                       for option in re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", each.name)}

    def problems(self, command):
        """Checks a command line that begins with `reweave`."""
        given = command.split()[1:]
        if not given or given[0] in ("VERB", "--help", "--version"):
            return
        verb = given[0]
        if verb not in self.options:
            if verb not in gdb_commands():
                yield f"there is no verb {verb}"
            return
        for word in given[1:]:
            if word == "--" or word in ("|", ">", "2>&1", ";", "&&"):
                return
            option = re.match(r"--?[a-zA-Z][a-z-]*", word)
            if option and option[0] not in self.options[verb]:
                yield f"reweave {verb} has no option {option[0]}"

    def anywhere(self, option):
        return any(option in options for options in self.options.values())


def option_problems(text, verbs, verb):
    """Checks a single `--option`, in a line about `verb` or, if that is empty, about any verb."""
    option = OPTION.match(text)[0]
    if verb and option not in verbs.options[verb]:
        yield f"reweave {verb} has no option {option}"
    elif not verb and not verbs.anywhere(option) and not re.search(rf"{option}\b", all_scripts() + gdb_text()):
        yield f"no verb and no script has the option {option}"


@functools.cache
def all_scripts():
    return "\n".join((ROOT / name).read_text(encoding="utf-8") for name in sources()
                     if name.startswith(("scripts/", "tests/")) and (name.endswith(".py") or "." not in name.rsplit("/", 1)[-1]))


def verb_of_row(line, verbs):
    """The verb that a row of a table of verbs is about."""
    row = re.match(r"\| `(\w+)[ `]", line)
    return row[1] if row and verbs and row[1] in verbs.options else ""


def command_problems(command, verbs):
    """Checks one command of a shell block, or text in backticks that may be a command."""
    command = re.sub(r"^(\w+=\S*\s+)+", "", command.strip())
    first = command.split()[0] if command.split() else ""
    if re.match(r"(scripts|tests|\.ci)/", first) and " " in command:
        yield from script_problems(command)
    elif first == "reweave" and verbs:
        yield from verbs.problems(command)
    elif verbs and first in verbs.options and OPTION.search(command):
        yield from verbs.problems("reweave " + command)


def span_problems(text, verbs, verb):
    text = text.strip()
    first = text.split()[0] if text.split() else ""
    if text.startswith("--") and verbs:
        yield from option_problems(text, verbs, verb)
    elif PATH.fullmatch(text):
        yield from path_problems(text)
        yield from name_problems(text)
    elif IDENTIFIER.fullmatch(text.removesuffix("()")):
        yield from name_problems(text.removesuffix("()"))
    elif first not in FOREIGN_COMMANDS:
        yield from command_problems(text, verbs)


def shell_problems(block, verbs):
    is_console = any(line.startswith("$ ") for line in block.splitlines())
    for line in block.splitlines():
        if is_console and not line.startswith("$ "):
            continue
        command = re.sub(r"\s#.*", "", line.removeprefix("$ "))
        if command.strip():
            yield from command_problems(command, verbs)


def problems(text, verbs=None, folder=ROOT):
    """Yields a line for each name in a document that does not exist. Links are relative to `folder`."""
    for language, block in FENCE.findall(text):
        if language in ("sh", "console"):
            yield from shell_problems(block, verbs)
    prose = FENCE.sub("", text)
    for target in LINK.findall(prose):
        if "://" not in target and not (folder / target).exists():
            yield f"a link leads to {target}, which does not exist"
    for name, path in FUNCTION.findall(prose):
        if path in tracked() and not re.search(rf"\b{name}\b", (ROOT / path).read_text(encoding="utf-8")):
            yield f"{path} has no {name}"
    for page, titles in SECTION.findall(prose):
        there = " ".join((ROOT / page).read_text(encoding="utf-8").split()) if page in tracked() else ""
        for title in re.findall(r'"([^"]+)"', titles):
            if not re.search(rf"(\*\*|# ){re.escape(' '.join(title.split()))}", there):
                yield f"{page} has no part {title}"
    for paragraph in re.split(r"\n(?=\||\n)", prose):
        verb = verb_of_row(paragraph, verbs) if paragraph.startswith("|") else ""
        for span in SPAN.findall(paragraph):
            yield from span_problems(span.replace("\n", " "), verbs, verb)


def documents():
    return [ROOT / name for name in sorted(tracked()) if name in ("README.md", "CONTRIBUTING.md") or
            name.startswith("docs/") and name.endswith(".md")]


def figure_problems():
    """Each figure must be named in a text that says how to make it again."""
    makers = all_scripts() + "".join(" ".join(re.findall(r"`(scripts/[^`]+)`", page.read_text(encoding="utf-8")))
                                     for page in documents())
    for name in sorted(tracked()):
        if name.startswith("docs/") and name.endswith((".svg", ".png")) and name not in makers:
            yield f"nothing says how {name} is made"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reweave", help="the program, to check verbs and options, too")
    arguments = parser.parse_args()
    verbs = Verbs(arguments.reweave) if arguments.reweave else None
    found = [f"{page.relative_to(ROOT)}: {problem}" for page in documents()
             for problem in problems(page.read_text(encoding="utf-8"), verbs, page.parent)]
    found += figure_problems()
    for line in dict.fromkeys(found):
        print(line)
    print(f"{len(documents())} documents, {len(set(found))} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
