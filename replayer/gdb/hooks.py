"""What has to happen around gdb's own commands."""

import functools

import gdb

import catches
import stepping

STEPS = ("next", "nexti", "stepi", "until")  # within the functions that the thread is in
NOT_HERE = {
    "jump": "the program goes on where it did when it was recorded",
    "return": "the program goes on where it did when it was recorded; `finish` runs to the end of this function",
    "signal": "the program gets the signals that it got when it was recorded; use `continue`",
    "queue-signal": "the program gets the signals that it got when it was recorded",
    "attach": "this gdb is for the recording; start another for another process",
    "checkpoint": "remember the number that `when` shows; `reweave goto EVENT` returns there",
    "restart": "`reweave goto EVENT` returns to an event, `run` to the beginning",
    "record": "the whole run is recorded; `reweave back N` and `reweave goto EVENT` go back in it",
    "reverse-continue": "`reweave back N` goes back by N events, `reweave goto EVENT` to an event; then `continue`",
    "reverse-step": "`reweave back N` goes back by N events, `reweave goto EVENT` to an event; then `step`",
    "reverse-next": "`reweave back N` goes back by N events, `reweave goto EVENT` to an event; then `next`",
    "reverse-stepi": "`reweave back N` goes back by N events, `reweave goto EVENT` to an event; then `stepi`",
    "reverse-nexti": "`reweave back N` goes back by N events, `reweave goto EVENT` to an event; then `nexti`",
    "reverse-finish": "`reweave back N` goes back by N events; `up` shows the caller",
}
OURS_TOO = ("attach", "return")  # these scripts need gdb's own command


class Hook(gdb.Command):
    """Internal: runs before or after a command of gdb's."""

    def __init__(self, name, commands, function):
        super().__init__("reweave-" + name, gdb.COMMAND_OBSCURE)
        self.function = function
        for command in commands:
            *prefix, last = command.split()
            gdb.execute("define %s\nreweave-%s\nend" % (" ".join([*prefix, "hook-" + last]), name))

    def invoke(self, argument, from_tty):
        if not stepping.internal:
            self.function()


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


class Run(gdb.Command):
    """Restart the replay: at the beginning, where it goes on to the first breakpoint, or stop at an event: run [EVENT]."""

    def __init__(self, session, name, function):
        super().__init__(name, gdb.COMMAND_RUNNING)
        self.session = session
        self.function = function

    def invoke(self, argument, from_tty):
        if argument.strip().isdigit() or argument.strip() == "end":
            return self.session.goto(argument.strip())
        if argument.strip():
            gdb.write("reweave: the program has the arguments that it was recorded with\n")
        self.function(self.session)


def run(session):
    session.restart("1")
    go_on()


def start(session):
    session.restart("1")
    gdb.execute("tbreak main")
    go_on()


def go_on():
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
    Hook("before-step", STEPS, functools.partial(step, False))
    Hook("before-step-into", ("step",), functools.partial(step, True))
    Hook("before-finish", ("finish",), lambda: session.before_going_on(anywhere=False))
    Hook("before-advance", ("advance",), session.before_going_on)
    Hook("before-continue", ("continue",), lambda: session.before_going_on(False, False))
    Hook("before-setting", ("set variable", "set"), set_something)
    for name, function in {"run": run, "start": start, "starti": start_at_once}.items():
        Run(session, name, function)
    for name, reason in NOT_HERE.items():
        if name in OURS_TOO:
            Hook("refuse-" + name, (name,), functools.partial(refuse, name, reason))
        else:
            NotHere(name, reason)
