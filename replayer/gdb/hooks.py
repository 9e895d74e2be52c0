"""Hooks that run around gdb's own commands, and commands that replace them."""

import functools

import gdb

import catches
import record_commands
import stepping

STEPS = ("next", "nexti", "until")  # within the functions that the thread is in
NOT_HERE = {
    "jump": "the program continues as it did when it was recorded",
    "return": "the program continues as it did when it was recorded; `finish` runs to the end of this function",
    "signal": "the program gets the signals that it got when it was recorded; use `continue`",
    "queue-signal": "the program gets the signals that it got when it was recorded",
    "attach": "this gdb is for the recording; start another for another process",
}
# Commands refused without `replay --backward`; each with what to use instead.
NOT_FORWARD = {
    "checkpoint": "remember the number that `when` shows; `reweave goto EVENT` returns there",
    "restart": "`reweave goto EVENT` returns to an event, `run` to the beginning",
    "reverse-continue": "`reweave replay --backward` can; `reweave back N` goes back by N events, then `continue`",
    "reverse-step": "`reweave replay --backward` can; `reweave back N` goes back by N events, then `step`",
    "reverse-next": "`reweave replay --backward` can; `reweave back N` goes back by N events, then `next`",
    "reverse-stepi": "`reweave replay --backward` can; `reweave back N` goes back by N events, then `stepi`",
    "reverse-nexti": "`reweave replay --backward` can; `reweave back N` goes back by N events, then `nexti`",
    "reverse-finish": "`reweave replay --backward` can; `reweave back N` goes back by N events, `up` shows the caller",
}
# Commands refused with `replay --backward`.
NOT_BACKWARD = {
    "rwatch": "with --backward only writes can be watched: use `watch`",
    "awatch": "with --backward only writes can be watched: use `watch`",
    "catch fork": "with --backward gdb does not see new processes: use `break fork`",
    "catch vfork": "with --backward gdb does not see new processes: use `break vfork`",
    "catch exec": "with --backward gdb does not see it: use `break execve`",
}
BACKWARD = ("reverse-continue", "reverse-step", "reverse-next", "reverse-stepi", "reverse-nexti", "reverse-finish")
OURS_TOO = ("attach", "return")  # these scripts need gdb's own command


class Hook(gdb.Command):
    """Internal: runs `function` before a command of gdb, or `backward` if the command goes backward. `reverse-step`
    executes `step` backward, and machine interfaces go backward only in this way."""

    def __init__(self, name, commands, function, backward=None):
        super().__init__("reweave-" + name, gdb.COMMAND_OBSCURE)
        self.function, self.backward = function, backward or function
        for command in commands:
            *prefix, last = command.split()
            gdb.execute("define %s\nreweave-%s\nend" % (" ".join([*prefix, "hook-" + last]), name))

    def invoke(self, argument, from_tty):
        if not stepping.internal:
            (self.backward if stepping.goes_back() else self.function)()


def refuse(name, reason):
    raise gdb.GdbError("reweave: no `%s` in a replay: %s" % (name, reason))


class NotHere(gdb.Command):
    """A command that makes no sense in a replay: says why, and what to use."""

    def __init__(self, name, reason):
        self.__doc__ = "Not in a replay: %s." % reason
        super().__init__(name, gdb.COMMAND_RUNNING)
        self.name, self.reason = name, reason

    def invoke(self, argument, from_tty):
        refuse(self.name, self.reason)


class WatchByHardware(gdb.Command):
    """Internal: runs after `set can-use-hw-watchpoints`, and turns them on again. The stub implements gdb's hardware
    watchpoints on any machine. With software watchpoints, each single step backward would be a replay."""

    def __init__(self):
        super().__init__("reweave-watch-by-hardware", gdb.COMMAND_OBSCURE)

    def invoke(self, argument, from_tty):
        if gdb.parameter("can-use-hw-watchpoints") == 0:
            gdb.execute("set can-use-hw-watchpoints 1")
            gdb.write("reweave: with --backward watchpoints need no hardware, and software watchpoints would take too long\n")


class Run(gdb.Command):
    """Restart the replay and run to the first breakpoint, or stop at an event: run [EVENT]."""

    def __init__(self, session, name, function):
        super().__init__(name, gdb.COMMAND_RUNNING)
        self.session = session
        self.function = function

    def invoke(self, argument, from_tty):
        if argument.strip().isdigit() or argument.strip() == "end":
            return self.session.goto(argument.strip())
        if argument.strip():
            gdb.write("reweave: the program always runs with its recorded arguments\n")
        for breakpoint in gdb.breakpoints():
            breakpoint.hit_count = 0
        self.function(self.session)


def begin(session):
    """Restarts the replay at its beginning."""
    session.restart("1")
    gdb.write("Starting program: %s %s\n" % (session.place["program"], gdb.parameter("args")))


def run(session):
    begin(session)
    gdb.execute("continue")


def start(session):
    gdb.execute("tbreak main")
    begin(session)
    gdb.execute("continue")


def start_at_once(session):
    session.goto("1")


def define(session):
    def step(anywhere):
        session.before_going_on(True, anywhere)
        session.before_step(anywhere)

    def set_something():
        session.excursion.begin()
        session.excursion.before_registers()

    catches.CatchSyscall(session)
    catches.CatchSyscall(session, "tcatch")
    if not stepping.remote:
        catches.CatchExec(session)
        catches.CatchExec(session, "tcatch")
    back, step_back = session.before_going_back, session.before_step_back
    Hook("before-step", STEPS, functools.partial(step, False), step_back)
    Hook("before-stepi", ("stepi",), functools.partial(step, False), functools.partial(step_back, True))
    Hook("before-step-into", ("step",), functools.partial(step, True), step_back)
    Hook("before-finish", ("finish",), lambda: session.before_going_on(anywhere=False), step_back)
    Hook("before-advance", ("advance",), session.before_going_on)
    Hook("before-continue", ("continue",), lambda: session.before_going_on(False, False))
    record_commands.define(session)
    if stepping.remote:
        Hook("before-backward", BACKWARD, back)
        gdb.execute("define set hookpost-can-use-hw-watchpoints\nreweave-watch-by-hardware\nend")
        WatchByHardware()
    Hook("before-setting", ("set variable", "set"), set_something)
    for name, function in {"run": run, "start": start, "starti": start_at_once}.items():
        Run(session, name, function)
    for name, reason in {**NOT_HERE, **(NOT_BACKWARD if stepping.remote else NOT_FORWARD)}.items():
        if name in OURS_TOO:
            Hook("refuse-" + name, (name,), functools.partial(refuse, name, reason))
        else:
            NotHere(name, reason)
