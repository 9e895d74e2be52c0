"""Finds the sources from which the program was built.

A program that was built elsewhere, for example in a container of a CI job, names its sources by paths of that machine,
while the client uses paths of its own. gdb's `set substitute-path` turns the former into the latter. The substitutions
come from the launch configuration's `sourceMap`, or are inferred from a source of the client that has the program's
functions at the program's lines.
"""

import os
import re

from mi import quoted
from protocol import Failure

SPECIAL = re.compile(r"[^\w/ -]")  # characters special in a POSIX regular expression, and some others


def differing_folders(theirs, ours):
    """The folders in which two paths with the same file name differ: both paths without their longest common end."""
    theirs, ours = theirs.split("/"), ours.split("/")
    while len(theirs) > 1 and len(ours) > 1 and theirs[-1] == ours[-1]:
        theirs, ours = theirs[:-1], ours[:-1]
    return "/".join(theirs), "/".join(ours)


def has_functions(path, functions):
    """True if a file has most of the functions, given as (line, name), at their lines."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return False
    found = sum(number <= len(lines) and base_name(name) in lines[number - 1] for number, name in functions)
    return found * 2 > len(functions)


def base_name(name):
    """A function's name without scopes, parameters and template arguments."""
    return re.sub(r"[(<].*", "", name).rpartition("::")[2]


class Sources:
    """The substitutions of one session."""

    def __init__(self, adapter):
        self.adapter = adapter
        self.substituted = {}  # the client's folders by the program's

    def take(self, source_map):
        """The launch configuration's `sourceMap`: the client's folders by the program's."""
        for theirs, ours in source_map.items():
            self.substitute(theirs.rstrip("/"), ours.rstrip("/"))

    def substitute(self, theirs, ours):
        self.adapter.ask_console("set substitute-path %s %s" % (quoted(theirs), quoted(ours)))
        self.substituted[theirs] = ours

    def learn(self, path):
        """Looks among the program's sources for the client's source at `path`, under another path, and substitutes
        its folder. Returns whether it found one."""
        ours = os.path.normpath(path)
        candidates = {}
        for theirs in self.named(os.path.basename(ours)):
            folders = differing_folders(theirs, ours)
            if (os.path.exists(theirs) or not all(folders) or folders[0] in self.substituted
                    or not has_functions(ours, self.functions_of(theirs))):
                continue
            candidates.setdefault(len(theirs) - len(folders[0]), set()).add(folders)
        closest = candidates[max(candidates)] if candidates else ()
        if len(closest) != 1:
            return False
        self.substitute(*closest.pop())
        return True

    def named(self, name):
        """The full paths of the program's sources with a file name."""
        expression = "^%s$" % SPECIAL.sub(".", name)
        files = self.adapter.ask("-file-list-exec-source-files --basename -- " + quoted(expression))["files"]
        return {os.path.normpath(each["fullname"]) for each in files if "fullname" in each}

    def functions_of(self, path):
        try:
            listed = self.adapter.ask_console("python import source_functions; source_functions.show(%r)" % path)
        except Failure:  # a source without code
            return []
        return [(int(number), name) for number, _, name in (each.partition(" ") for each in listed.splitlines())]
