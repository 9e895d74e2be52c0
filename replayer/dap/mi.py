"""gdb's machine interface: its records parsed (GDB manual, "GDB/MI Output Syntax")."""

import re

ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
OCTAL = re.compile(r"[0-7]{3}")


class Record:
    """A line from gdb. `kind` is its first character: ^ result, * execution, = notice, ~ console, & log, @ target."""

    def __init__(self, kind, name="", token=None, fields=None, text=""):
        self.kind, self.name, self.token, self.fields, self.text = kind, name, token, fields or {}, text


def quoted(text):
    """A C string, as an argument of a command."""
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def parse(line):
    """The record of a line, or None for the prompt and other lines."""
    match = re.match(r"(\d*)([\^*+=~@&])", line)
    if match is None:
        return None
    kind = match[2]
    reader = Reader(line, match.end())
    if kind in "~@&":
        return Record(kind, text=reader.string()) if reader.peek() == '"' else None
    name = reader.name(",")
    return Record(kind, name, int(match[1]) if match[1] else None, reader.results(""))


class Reader:
    """The values of one line."""

    def __init__(self, line, place):
        self.line, self.place = line, place

    def peek(self):
        return self.line[self.place] if self.place < len(self.line) else ""

    def name(self, ends):
        start = self.place
        while self.peek() and self.peek() not in ends:
            self.place += 1
        return self.line[start:self.place]

    def results(self, end):
        """name=value pairs up to `end`. The values of a name that occurs several times become a list."""
        found = {}
        while self.peek() not in (end, ""):
            if self.peek() == ",":
                self.place += 1
            if self.peek() in "{[":
                found.setdefault("", []).append(self.value())
                continue
            name = self.name("=")
            self.place += 1
            value = self.value()
            found[name] = value if name not in found else as_list(found[name]) + [value]
        self.place += len(end)
        return found

    def value(self):
        first = self.peek()
        if first == '"':
            return self.string()
        self.place += 1
        return self.results("}") if first == "{" else self.list()

    def list(self):
        """The values of a list, without the names of its members, which are all the same."""
        found = []
        while self.peek() not in ("]", ""):
            if self.peek() == ",":
                self.place += 1
            if self.peek() not in '"{[':
                self.name("=")
                self.place += 1
            found.append(self.value())
        self.place += 1
        return found

    def string(self):
        self.place += 1
        raw = bytearray()
        while self.peek() not in ('"', ""):
            character = self.peek()
            self.place += 1
            if character != "\\":
                raw += character.encode()
                continue
            octal = OCTAL.match(self.line, self.place)
            if octal:
                raw.append(int(octal[0], 8) & 255)
                self.place += 3
            else:
                raw += ESCAPES.get(self.peek(), self.peek()).encode()
                self.place += 1
        self.place += 1
        return raw.decode("utf-8", "replace")


def as_list(value):
    return value if isinstance(value, list) else [value]
