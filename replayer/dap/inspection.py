"""Threads, stacks, variables and expressions at a stop."""

import os
import re

from mi import quoted
from motion import LATER, Motion, arrived
from protocol import Failure

MOST_CHILDREN = 1000  # of one variable, unless the client asks for a part
ACCESS = ("public", "protected", "private")
# Matches `x = 1`, `x += 1`, `x++`: gdb would write to the replay's memory without a copy (docs/debugging.md).
ASSIGNMENT = re.compile(r"(?<![=!<>])=(?!=)|<<=|>>=|\+\+|--")
UNKNOWN_COMMAND = ("Undefined command", "Ambiguous command")


class Inspection:
    """The client's view of the program since the last stop; its numbers are valid until the next stop."""

    def __init__(self, adapter):
        self.adapter = adapter
        self.frames = {}  # by id: (thread, level)
        self.references = {}  # by number: ("locals" or "registers", frame id) or ("variable", varobj's name, frame id)
        self.threads = []

    def handlers(self):
        return {"threads": self.list_threads, "stackTrace": self.stack, "scopes": self.scopes,
                "variables": self.variables, "setVariable": self.set_variable, "evaluate": self.evaluate,
                "source": self.source}

    def forget(self):
        """Call this when the program moves."""
        if self.references and self.adapter.gdb is not None and not self.adapter.gdb.ended:
            for reference in self.references.values():
                if reference[0] == "variable" and "." not in reference[1]:
                    self.adapter.gdb.send("-var-delete " + reference[1])
        self.frames.clear()
        self.references.clear()

    def refer(self, *what):
        self.references[len(self.references) + 1] = what
        return len(self.references)

    def list_threads(self, request, arguments):
        if self.adapter.motion is None:
            self.threads = [{"id": int(thread["id"]), "name": thread.get("name") or thread["target-id"]}
                            for thread in self.adapter.ask("-thread-info")["threads"]]
        return {"threads": self.threads}

    # Stacks

    def stack(self, request, arguments):
        """The program's frames, without the runtime's, as in gdb's backtrace."""
        thread = int(arguments["threadId"])
        first, wanted = arguments.get("startFrame", 0), arguments.get("levels") or 1000
        shown = self.adapter.ask("-stack-list-frames --thread %d" % thread)["stack"]
        whole = {frame["level"]: frame for frame in
                 self.adapter.ask("-stack-list-frames --thread %d --no-frame-filters" % thread)["stack"]}
        frames = [self.frame(thread, {**whole.get(frame["level"], {}), **frame})
                  for frame in shown[first:first + wanted]]
        return {"stackFrames": frames, "totalFrames": len(shown)}

    def frame(self, thread, frame):
        number = len(self.frames) + 1
        self.frames[number] = (thread, int(frame["level"]))
        shown = {"id": number, "name": frame.get("func", frame["addr"]), "line": 0, "column": 0,
                 "instructionPointerReference": frame["addr"]}
        if "line" in frame:
            shown.update(line=int(frame["line"]) - 1 + self.adapter.first_line, column=self.adapter.first_column)
            path = frame.get("fullname") or frame["file"]
            shown["source"] = {"name": os.path.basename(path), "path": path}
            if not os.path.exists(path):
                shown["source"]["presentationHint"] = "deemphasize"
        else:
            shown["presentationHint"] = "subtle"
        return shown

    def source(self, request, arguments):
        path = arguments.get("source", {}).get("path", "")
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                return {"content": file.read()}
        except OSError as error:
            raise Failure("%s: %s; gdb's `set substitute-path` in the debug console, or `directory`, tells gdb where the "
                          "sources are" % (path, error.strerror)) from error

    def options_of(self, frame):
        if frame is None:
            return ""
        if frame not in self.frames:
            raise Failure("this frame belongs to an earlier stop")
        return "--thread %d --frame %d" % self.frames[frame]

    # Variables

    def scopes(self, request, arguments):
        frame = arguments["frameId"]
        self.options_of(frame)
        return {"scopes": [{"name": "Locals", "presentationHint": "locals", "expensive": False,
                            "variablesReference": self.refer("locals", frame)},
                           {"name": "Registers", "presentationHint": "registers", "expensive": True,
                            "variablesReference": self.refer("registers", frame)}]}

    def reference(self, number):
        if number not in self.references:
            raise Failure("this variable belongs to an earlier stop")
        return self.references[number]

    def variables(self, request, arguments):
        kind, *which = self.reference(arguments["variablesReference"])
        if kind == "locals":
            return {"variables": self.locals(which[0])}
        if kind == "registers":
            return {"variables": self.registers(which[0])}
        return {"variables": self.children(*which, arguments.get("start", 0), arguments.get("count", 0))}

    def locals(self, frame):
        options = self.options_of(frame)
        listed = self.adapter.ask("-stack-list-variables %s --no-frame-filters 0" % options)["variables"]
        return [self.expression(name, frame, name) for name in dict.fromkeys(
            each["name"] if isinstance(each, dict) else each for each in listed) if "@" not in name]

    def expression(self, expression, frame, name):
        """A variable for an expression, or the reason why there is none."""
        try:
            return self.variable(self.create(expression, frame), frame, name)
        except Failure as error:
            return {"name": name, "value": "<%s>" % error, "variablesReference": 0}

    def create(self, expression, frame):
        options = self.options_of(frame)
        try:
            return self.adapter.ask("-var-create %s - * %s" % (options, quoted(expression)))
        except Failure:  # this error gives no reason, but that of the next command does
            self.adapter.ask("-data-evaluate-expression %s %s" % (options, quoted(expression)))
            raise

    def variable(self, made, frame, name):
        shown = {"name": name, "value": made.get("value", ""), "type": made.get("type", ""), "variablesReference": 0,
                 "evaluateName": name}
        count = int(made.get("numchild", 0))
        # Keep variables without children too: a data breakpoint needs the expression, and the variable must be deleted
        # later.
        number = self.refer("variable", made["name"], frame)
        if count > 0 or made.get("dynamic") == "1" and made.get("has_more") != "0":
            shown["variablesReference"] = number
            if made.get("type", "").endswith("]"):
                shown["indexedVariables"] = count
        pointer = re.match(r"0x[0-9a-f]+", shown["value"])
        if pointer:
            shown["memoryReference"] = pointer[0]
        return shown

    def children(self, name, frame, start=0, count=0):
        end = start + (count or MOST_CHILDREN)
        listed = self.adapter.ask("-var-list-children --all-values %s %d %d" % (name, start, end))
        found = []
        for child in listed.get("children", []):
            if child["exp"] in ACCESS and "type" not in child:  # gdb groups the members of a C++ class by access
                found += self.children(child["name"], frame)
                continue
            shown = self.variable(child, frame, "[%s]" % child["exp"] if child["exp"].isdigit() else child["exp"])
            shown.pop("evaluateName")
            found.append(shown)
        if listed.get("has_more") == "1" and not count:
            found.append({"name": "...", "value": "more than %d" % MOST_CHILDREN, "variablesReference": 0})
        return found

    def registers(self, frame):
        names = self.adapter.ask("-data-list-register-names")["register-names"]
        values = self.adapter.ask("-data-list-register-values %s --skip-unavailable r" % self.options_of(frame))
        return [{"name": names[int(each["number"])], "value": each["value"], "variablesReference": 0,
                 "evaluateName": "$" + names[int(each["number"])]}
                for each in values["register-values"] if names[int(each["number"])]]

    def expression_of(self, reference, name, frame):
        """The expression for a name that the client shows, and the options that select its frame."""
        if not reference:
            return name, self.options_of(frame)
        kind, *which = self.reference(reference)
        if kind == "registers":
            raise Failure("registers have no address")
        if kind == "locals":
            return name, self.options_of(which[0])
        return self.child_expression(which[0], name), self.options_of(which[1])

    def child_expression(self, parent, name):
        for child in self.adapter.ask("-var-list-children %s" % parent).get("children", []):
            if child["exp"] in ACCESS and "type" not in child:
                try:
                    return self.child_expression(child["name"], name)
                except Failure:
                    continue
            if child["exp"] == name.strip("[]"):
                return self.adapter.ask("-var-info-path-expression " + child["name"])["path_expr"]
        raise Failure("there is no member %s" % name)

    def type_of(self, expression, frame):
        made = self.adapter.ask("-var-create %s - * %s" % (frame, quoted(expression)))
        self.adapter.ask("-var-delete " + made["name"])
        return made["type"]

    def set_variable(self, request, arguments):
        """Sets a variable as gdb's `set var` does: the value lasts until the program continues."""
        kind, *which = self.reference(arguments["variablesReference"])
        if kind == "registers":
            expression, frame = "$" + arguments["name"], which[0]
        else:
            expression, _ = self.expression_of(arguments["variablesReference"], arguments["name"], None)
            frame = which[-1]
        self.select(frame)
        self.adapter.ask_console("set var (%s) = %s" % (expression, arguments["value"]))
        made = self.create(expression, frame)
        return {"value": made["value"], "type": made.get("type", "")}

    def select(self, frame):
        if frame is not None:
            self.options_of(frame)
            self.adapter.ask_console("thread %d" % self.frames[frame][0])
            self.adapter.ask_console("frame %d" % self.frames[frame][1])

    # Expressions

    def evaluate(self, request, arguments):
        expression, frame = arguments["expression"], arguments.get("frameId")
        if arguments.get("context") == "repl":
            return self.command(request, expression, frame)
        if ASSIGNMENT.search(expression):
            raise Failure("reweave: to change the program use `set var` in the debug console; the change lasts until "
                          "the program continues")
        return self.value(expression, frame)

    def value(self, expression, frame):
        shown = self.variable(self.create(expression, frame), frame, expression)
        shown["result"] = shown.pop("value")
        del shown["name"], shown["evaluateName"]
        return shown

    def command(self, request, text, frame):
        """Runs a command of gdb's console; other text is evaluated as an expression."""
        adapter = self.adapter
        self.adapter.ask("-thread-info")  # fails while the program runs
        try:
            self.select(frame)
        except Failure:
            pass

        def done(motion, console):
            if motion.error and motion.error.startswith(UNKNOWN_COMMAND) and not ASSIGNMENT.search(text):
                try:
                    adapter.client.respond(request, self.value(text, frame))
                except Failure as error:
                    adapter.client.refuse(request, str(error))
            elif motion.error:
                adapter.client.refuse(request, motion.error)
            else:
                adapter.client.respond(request, {"result": console.rstrip("\n"), "variablesReference": 0})
            if motion.moved:
                motion.error = None
                arrived(adapter, motion, console)

        Motion(adapter, text, done)
        return LATER
