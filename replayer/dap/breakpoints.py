"""Line, function and data breakpoints."""

import json
import re

import motion
from mi import quoted
from protocol import Failure

HITS = re.compile(r"\s*(>=|>|==)?\s*(\d+)\s*")


class Breakpoints:
    """The client's breakpoints, by kind or source. Each list that the client sends replaces the previous one."""

    def __init__(self, adapter):
        self.adapter = adapter
        self.numbers = {}  # gdb's numbers by kind: a source's path, "function", "data"
        self.watched = set()

    def handlers(self):
        return {"setBreakpoints": self.set_lines, "setFunctionBreakpoints": self.set_functions,
                "setExceptionBreakpoints": lambda request, arguments: {"breakpoints": []},
                "dataBreakpointInfo": self.data_info, "setDataBreakpoints": self.set_data}

    def set_lines(self, request, arguments):
        path = arguments["source"]["path"]
        first = self.adapter.first_line
        return self.replace(path, arguments.get("breakpoints", []), lambda wanted: self.insert_line(
            wanted, path, wanted["line"] + 1 - first))

    def insert_line(self, wanted, path, number):
        place = "--source %s --line %d" % (quoted(path), number)
        made = self.insert(wanted, place)
        if made.get("addr") == "<PENDING>" and self.adapter.sources.learn(path):
            self.adapter.ask("-break-delete " + made["number"])
            made = self.insert(wanted, place)
        return made

    def set_functions(self, request, arguments):
        return self.replace("function", arguments["breakpoints"], lambda wanted: self.insert(
            wanted, "--function " + quoted(wanted["name"])))

    def set_data(self, request, arguments):
        return self.replace("data", arguments["breakpoints"], self.watch)

    def replace(self, kind, wanted, insert):
        adapter = self.adapter
        resumed = adapter.motion and motion.hold(adapter)
        for number in self.numbers.pop(kind, ()):
            adapter.ask("-break-delete " + number)
        self.numbers[kind] = []
        answers = []
        for each in wanted:
            try:
                made = insert(each)
                self.numbers[kind].append(made["number"])
                answers.append(self.describe(made))
            except Failure as error:
                answers.append({"verified": False, "message": str(error)})
        if resumed:
            adapter.after = resumed
        return {"breakpoints": answers}

    def insert(self, wanted, place):
        options = "-f "
        if wanted.get("condition"):
            options += "-c %s " % quoted(wanted["condition"])
        ignored = self.ignored(wanted)
        if ignored:
            options += "-i %d " % ignored
        made = self.adapter.ask("-break-insert %s%s" % (options, place))["bkpt"]
        return made[0] if isinstance(made, list) else made

    @staticmethod
    def ignored(wanted):
        """The number of hits to ignore before the one that stops."""
        text = wanted.get("hitCondition")
        if not text:
            return 0
        match = HITS.fullmatch(text)
        if match is None:
            raise Failure("the hit count '%s' is not N, >= N or > N" % text)
        return int(match[2]) - (0 if match[1] == ">" else 1)

    def describe(self, made):
        answer = {"id": int(made["number"].split(".")[0]), "verified": made.get("addr") != "<PENDING>"}
        if not answer["verified"]:
            answer["message"] = ("the replay has no code there yet; if the program was built elsewhere, the launch "
                                 "configuration's `sourceMap` says where its sources are")
        if "line" in made:
            answer["line"] = int(made["line"]) - 1 + self.adapter.first_line
        if "fullname" in made:
            answer["source"] = {"path": made["fullname"], "name": made["file"].rpartition("/")[2]}
        return answer

    def changed(self, made):
        """Reports a breakpoint that gdb has resolved again."""
        made = made[0] if isinstance(made, list) else made
        if any(made.get("number") in numbers for kind, numbers in self.numbers.items() if kind != "data"):
            self.adapter.client.event("breakpoint", reason="changed", breakpoint=self.describe(made))

    def hit(self, stop):
        number = stop.get("bkptno") or stop.get("wpt", {}).get("number")
        return [int(number)] if number and any(number in numbers for numbers in self.numbers.values()) else []

    # Data

    def data_info(self, request, arguments):
        inspection = self.adapter.inspection
        try:
            expression, frame = inspection.expression_of(arguments.get("variablesReference"), arguments["name"],
                                                         arguments.get("frameId"))
            evaluate = "-data-evaluate-expression %s" % frame
            address = self.adapter.ask("%s %s" % (evaluate, quoted("(unsigned long)&(%s)" % expression)))["value"]
            size = self.adapter.ask("%s %s" % (evaluate, quoted("sizeof(%s)" % expression)))["value"]
            kind = inspection.type_of(expression, frame)
        except Failure as error:
            return {"dataId": None, "description": str(error)}
        data = json.dumps({"address": int(address), "size": int(size), "type": kind, "name": arguments["name"]})
        return {"dataId": data, "description": "%s (%s bytes at %#x)" % (arguments["name"], size, int(address)),
                "accessTypes": ["write"], "canPersist": False}

    def watch(self, wanted):
        data = json.loads(wanted["dataId"])
        if wanted.get("accessType", "write") != "write":
            raise Failure("a replay stops at writes only")
        ignored = self.ignored(wanted)
        try:
            made = self.adapter.ask("-break-watch " + quoted("*(%s*)%d" % (data["type"], data["address"])))
        except Failure:  # a type without a name
            made = self.adapter.ask("-break-watch " + quoted("*(char(*)[%d])%d" % (data["size"], data["address"])))
        number = (made.get("wpt") or made.get("hw-wpt") or made.get("hw-rwpt"))["number"]
        try:
            if wanted.get("condition"):
                self.adapter.ask("-break-condition %s %s" % (number, wanted["condition"]))
            if ignored:
                self.adapter.ask("-break-after %s %d" % (number, ignored))
        except Failure:
            self.adapter.ask("-break-delete " + number)
            raise
        return {"number": number}
