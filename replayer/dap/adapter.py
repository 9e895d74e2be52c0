"""The requests of the Debug Adapter Protocol, each carried out with gdb on the replay."""

import collections
import queue
import threading

import breakpoints
import inspection
import memory
import motion
from gdb_process import Gdb
from mi import quoted
from protocol import Ended, Failure, Malformed, read_message
from sources import Sources

CAPABILITIES = ("supportsConfigurationDoneRequest", "supportsConditionalBreakpoints",
                "supportsHitConditionalBreakpoints", "supportsFunctionBreakpoints", "supportsEvaluateForHovers",
                "supportsStepBack", "supportsRestartRequest", "supportsTerminateRequest", "supportsDataBreakpoints",
                "supportsReadMemoryRequest", "supportsDisassembleRequest", "supportsSteppingGranularity",
                "supportsSetVariable")
SETTINGS = ("-enable-pretty-printing", "-enable-frame-filters", "-gdb-set print elements 200")


class Adapter:
    """One debugging session."""

    def __init__(self, program, requests, client):
        self.program, self.requests, self.client = program, requests, client
        self.inbox = queue.Queue()  # ("request", message), ("malformed", text), ("gdb", record)
        self.waiting = collections.deque()  # messages taken from the inbox while waiting for gdb
        self.gdb = None
        self.console = []  # gdb's output since the last command
        self.motion = None  # the motion in progress
        self.going = True
        self.stop_on_entry = True
        self.after = None  # called once the current request is answered
        self.first_line, self.first_column = 1, 1
        self.breakpoints = breakpoints.Breakpoints(self)
        self.inspection = inspection.Inspection(self)
        self.sources = Sources(self)
        self.handlers = {**self.own_handlers(), **motion.handlers(self), **self.breakpoints.handlers(),
                         **self.inspection.handlers(), **memory.handlers(self)}

    def own_handlers(self):
        return {"initialize": self.initialize, "launch": self.launch, "attach": self.attach,
                "configurationDone": self.configuration_done, "disconnect": self.leave, "terminate": self.leave}

    def serve(self):
        threading.Thread(target=self.read_requests, daemon=True).start()
        try:
            while self.going:
                self.handle(*(self.waiting.popleft() if self.waiting else self.inbox.get()))
        finally:
            if self.gdb is not None:
                self.gdb.end()

    def read_requests(self):
        while True:
            try:
                message = read_message(self.requests)
            except Malformed as error:
                self.inbox.put(("malformed", str(error)))
                continue
            self.inbox.put(("request", message))
            if message is None:
                return

    def handle(self, kind, what):
        if kind == "malformed":
            self.client.refuse({}, "reweave dap: " + what)
        elif kind == "gdb":
            self.take_record(what)
        elif what is None:
            self.going = False
        else:
            self.handle_request(what)

    def handle_request(self, request):
        arguments = request.get("arguments")
        try:
            handler = self.handlers.get(request["command"])
            if handler is None:
                raise Failure("reweave dap has no request '%s'" % request["command"])
            if arguments is not None and not isinstance(arguments, dict):
                raise Failure("the arguments of '%s' are not an object" % request["command"])
            body = handler(request, arguments or {})
            if body is not motion.LATER:
                self.client.respond(request, body)
        except Failure as error:
            self.client.refuse(request, str(error))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            self.client.refuse(request, "'%s' lacks an argument or has a wrong one: %r" % (request["command"], error))
        after, self.after = self.after, None
        if after is not None:
            after()

    # gdb

    def ask(self, command):
        """Carries out a command that does not move the program; returns its fields."""
        if self.gdb is None:
            raise Failure("there is no replay; launch one first")
        if self.motion is not None:
            raise Failure("the program is running; pause it first")
        self.console = []
        return self.result(self.gdb.send(command))

    def ask_console(self, command):
        """The output of a command of gdb's console."""
        self.ask("-interpreter-exec console " + quoted(command))
        return "".join(self.console)

    def next_of_gdb(self):
        """gdb's next record; requests that arrive meanwhile wait."""
        while True:
            kind, what = self.inbox.get()
            if kind == "gdb":
                return what
            self.waiting.append((kind, what))

    def result(self, token):
        """Waits for the result of the command with that token."""
        while True:
            record = self.next_of_gdb()
            if record is not None and record.kind == "^" and record.token == token:
                if record.name == "error":
                    raise Failure(record.fields.get("msg", "gdb gives no reason"))
                return record.fields
            self.take_record(record)
            if record is None:
                raise Ended

    def await_motion(self):
        """Waits until the motion is over."""
        while self.motion is not None:
            self.take_record(self.next_of_gdb())

    def take_record(self, record):
        if record is None:
            self.gdb_ended()
        elif record.kind == "~":
            self.console.append(record.text)
        elif record.kind == "=":
            self.notice(record)
        elif self.motion is not None:
            self.motion.take(record)

    def notice(self, record):
        if record.name in ("thread-created", "thread-exited"):
            reason = "started" if record.name == "thread-created" else "exited"
            self.client.event("thread", reason=reason, threadId=int(record.fields["id"]))
        elif record.name == "breakpoint-modified":
            self.breakpoints.changed(record.fields["bkpt"])

    def gdb_ended(self):
        if self.gdb is not None and not self.gdb.ended:
            self.gdb.ended = True
            if self.motion is not None:
                self.motion.give_up("gdb has ended")
            self.client.event("terminated")

    # The session

    def initialize(self, request, arguments):
        self.first_line = 1 if arguments.get("linesStartAt1", True) else 0
        self.first_column = 1 if arguments.get("columnsStartAt1", True) else 0
        return {**{name: True for name in CAPABILITIES}, "exceptionBreakpointFilters": []}

    def attach(self, request, arguments):
        raise Failure("a recording is launched, with its path as `recording`; there is nothing to attach to")

    def launch(self, request, arguments):
        if self.gdb is not None:
            raise Failure("the replay has been launched already")
        recording = arguments.get("recording")
        if not isinstance(recording, str) or not recording:
            raise Failure("the launch configuration needs `recording`, the path of a recording")
        command = [self.program, "replay", "--backward", "-g", str(arguments.get("at", "end"))]
        if arguments.get("pid") is not None:
            command += ["-p", str(int(arguments["pid"]))]
        self.stop_on_entry = bool(arguments.get("stopOnEntry", True))
        source_map = arguments.get("sourceMap", {})
        if not isinstance(source_map, dict) or not all(isinstance(each, str) and each for each in source_map.values()):
            raise Failure("`sourceMap` has to be an object of folders: {\"built in\": \"now in\"}")
        self.start([*command, "--", recording])
        self.sources.take(source_map)
        self.after = lambda: self.client.event("initialized")
        return {}

    def start(self, command):
        self.gdb = gdb = Gdb(command, self.inbox, lambda category, text: self.client.event("output", category=category,
                                                                                          output=text))
        try:
            for setting in SETTINGS:  # answered once gdb has reached the requested place
                self.ask(setting)
        except Failure as error:
            text = gdb.failure() if isinstance(error, Ended) else str(error)
            gdb.ended = True
            gdb.end()
            self.gdb = None
            raise Failure(text) from error

    def configuration_done(self, request, arguments):
        def begin():
            if not self.ask("-thread-info").get("threads"):
                motion.show_end(self, 0)
            elif self.stop_on_entry:
                motion.show_stop(self, "entry")
            else:
                motion.go(self, "continue")
        self.ask("-thread-info")
        self.after = begin
        return {}

    def leave(self, request, arguments):
        if self.gdb is not None:
            if self.motion is not None:
                self.motion.give_up("the session ends")
            self.gdb.ended = True
            self.gdb.end()
            self.gdb = None
        if request["command"] == "terminate":
            self.client.event("terminated")
        else:
            self.going = False
        return {}
