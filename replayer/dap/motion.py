"""Lets the program run forward or back, and reports its stops.

Each motion is a command of gdb's console, so that the hooks around these commands (replayer/gdb/hooks.py) run. gdb
reads the next command only when the motion is over. So a second command is sent at once, and its answer marks the end
of the motion.
"""

import re
import signal
import threading

from protocol import Failure

LATER = object()  # a handler has not answered yet
# gdb's commands for each request: to step by lines, and by instructions.
STEPS = {"next": ("next", "nexti"), "stepIn": ("step", "stepi"), "stepOut": ("finish", "finish"),
         "stepBack": ("reverse-next", "reverse-stepi")}
REASONS = {"breakpoint-hit": "breakpoint", "watchpoint-trigger": "data breakpoint", "watchpoint-scope": "data breakpoint",
           "end-stepping-range": "step", "function-finished": "step", "signal-received": "exception"}
EXITS = ("exited", "exited-normally", "exited-signalled")

INTERRUPTS = ("SIGINT", "0")
GRACE_SECONDS = 0.3


class Motion:
    """A command that moves the program, until gdb is ready for another command."""

    def __init__(self, adapter, command, done):
        self.adapter, self.command, self.done = adapter, command, done
        self.stop = None  # the last *stopped
        self.error = None
        self.moved = False
        self.interrupted = False  # by the user
        self.quit = False  # an interruption ended the evaluation of a condition; gdb then reports that breakpoint
        self.running = False
        self.interrupt_wanted = False
        adapter.console = []
        self.token = adapter.gdb.send_console(command)
        self.last = adapter.gdb.send("-thread-info")
        adapter.motion = self

    def interrupt(self):
        """Stops the program. gdb ignores an interruption until shortly after it has reported that the program runs."""
        self.interrupt_wanted = not self.running
        if self.running:
            threading.Timer(GRACE_SECONDS, self.interrupt_now).start()

    def interrupt_now(self):
        if self.adapter.motion is self:
            self.adapter.gdb.interrupt()

    def was_interrupted(self):
        """True if it ended because of an interruption."""
        return self.quit or (self.stop or {}).get("signal-name") in INTERRUPTS

    def take(self, record):
        if record.kind == "&":
            self.quit = self.quit or record.text == "Quit\n"
        elif record.kind == "*":
            self.moved = True
            self.running = record.name == "running"
            if self.running and self.interrupt_wanted:
                self.interrupt()
            if record.name == "stopped":
                self.stop = record.fields
        elif record.kind == "^" and record.token == self.token and record.name == "error":
            self.error = record.fields.get("msg", "gdb gives no reason")
        elif record.kind == "^" and record.token == self.last:
            self.adapter.motion = None
            self.done(self, "".join(self.adapter.console))

    def give_up(self, reason):
        self.adapter.motion = None
        self.error = reason
        self.stop = None
        self.moved = False
        self.done(self, "")


def handlers(adapter):
    requests = {"continue": lambda request, arguments: resume(adapter, arguments, "continue"),
                "reverseContinue": lambda request, arguments: resume(adapter, arguments, "reverse-continue"),
                "pause": lambda request, arguments: pause(adapter),
                "restart": lambda request, arguments: restart(adapter)}
    for name in STEPS:
        requests[name] = lambda request, arguments: step(adapter, request["command"], arguments)
    return requests


def resume(adapter, arguments, command):
    select(adapter, arguments)
    adapter.after = lambda: go(adapter, command)
    return {"allThreadsContinued": True}


def step(adapter, name, arguments):
    select(adapter, arguments)
    line, instruction = STEPS[name]
    command = instruction if arguments.get("granularity") == "instruction" else line
    adapter.after = lambda: go(adapter, command)
    return {}


def select(adapter, arguments):
    adapter.ask_console("thread %d" % arguments["threadId"])


def restart(adapter):
    adapter.ask("-thread-info")
    adapter.after = lambda: go(adapter, "reweave goto 1", "entry")
    return {}


def pause(adapter):
    if adapter.motion is None:
        raise Failure("the program is not running")
    adapter.motion.interrupted = True
    adapter.motion.interrupt()
    return {}


def hold(adapter):
    """Interrupts a motion so that a breakpoint can be set. Returns the function that continues the motion."""
    motion, stopped = adapter.motion, []
    if motion.command not in ("continue", "reverse-continue"):
        raise Failure("the program is running; pause it first")
    done, motion.done = motion.done, lambda ended, console: stopped.append(console)
    motion.interrupt()
    adapter.await_motion()
    if not motion.interrupted and motion.was_interrupted():
        return lambda: go(adapter, motion.command)
    return lambda: done(motion, stopped[0])


def go(adapter, command, reason=None):
    """Moves the program, and reports where it stopped."""
    adapter.inspection.forget()
    Motion(adapter, command, lambda motion, console: arrived(adapter, motion, console, reason))


def arrived(adapter, motion, console, reason=None):
    if motion.error:
        adapter.client.event("output", category="important", output=motion.error + "\n")
    if adapter.gdb is None or adapter.gdb.ended:
        return
    stop = motion.stop or {}
    if stop.get("reason") in EXITS:
        return show_end(adapter, exit_code(stop))
    if "No more reverse-execution history" in console:
        reason, text = "entry", "the beginning of the recording"
    elif motion.interrupted and motion.was_interrupted():
        reason, text = "pause", ""
    else:
        reason, text = reason or REASONS.get(stop.get("reason"), "step"), describe(stop)
    show_stop(adapter, reason, text, adapter.breakpoints.hit(stop))


def exit_code(stop):
    """The exit status as a shell reports it."""
    if stop["reason"] == "exited-signalled":
        return 128 + getattr(signal, stop.get("signal-name", ""), 0)
    return int(stop.get("exit-code", "0"), 8)


def describe(stop):
    if stop.get("reason") == "signal-received":
        return "%s: %s" % (stop.get("signal-name"), stop.get("signal-meaning"))
    if stop.get("reason") == "watchpoint-trigger":
        value = stop.get("value", {})
        return "%s: %s -> %s" % (stop.get("wpt", {}).get("exp"), value.get("old"), value.get("new"))
    return ""


def position(adapter):
    """The name of this instant, or the event and schedule point."""
    try:
        told = adapter.ask_console("when")
    except Failure:
        return ""
    name = re.search(r"^position (.*)$", told, re.M)
    return name[1] if name else told.strip()


def show_stop(adapter, reason, text="", ids=()):
    adapter.inspection.forget()
    where = position(adapter)
    threads = adapter.ask("-thread-info")
    body = {"reason": reason, "threadId": int(threads.get("current-thread-id", 1)), "allThreadsStopped": True,
            "description": ("%s at %s" % (reason.capitalize(), where)) if where else reason.capitalize()}
    if text:
        body["text"] = text
    if ids:
        body["hitBreakpointIds"] = list(ids)
    adapter.client.event("stopped", **body)


def show_end(adapter, code):
    adapter.client.event("exited", exitCode=code)
    adapter.client.event("terminated")
