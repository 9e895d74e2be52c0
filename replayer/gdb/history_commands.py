"""The commands that ask a recording: reweave who-wrote, when, last-lock, where-freed, switches, timeline."""

import gdb

import history
import nearby


def words_of(argument, options):
    """Splits `argument` into leading `options` and the rest. An option with True takes the next word as its value."""
    given = {}
    rest = argument.strip()
    while rest.startswith("-"):
        word, _, behind = rest.partition(" ")
        if word not in options:
            break
        value = True
        if options[word]:
            value, _, behind = behind.strip().partition(" ")
        given[word], rest = value, behind.strip()
    return given, rest


def place_line(answer):
    stack = answer.get("stack") or [{}]
    where = stack[0].get("function") or "%#x" % answer.get("pc", 0)
    caller = next((frame for frame in stack if "file" in frame), {})
    if caller is not stack[0] and caller:
        where += ", called from " + caller["function"]
    if caller:
        where += " at %s:%d" % (caller["file"], caller["line"])
    return "thread t%s, event %d, in %s\n  position %s\n" % (answer["thread"], answer["event"], where, answer["position"])


def stack_lines(answer):
    lines = ""
    for number, frame in enumerate(answer.get("stack", ())):
        where = " at %s:%d" % (frame["file"], frame["line"]) if "file" in frame else ""
        lines += "  #%d %s%s\n" % (number, frame["function"] or "%#x" % frame["pc"], where)
    return lines


class Question(gdb.Command):
    """A question about one expression. Subclasses have `name`, `ask` and `tell`."""

    options = {"-g": False}

    def __init__(self, session):
        super().__init__("reweave " + self.name, gdb.COMMAND_STATUS, gdb.COMPLETE_EXPRESSION)
        self.session = session

    def invoke(self, argument, from_tty):
        given, expression = words_of(argument, self.options)
        if not expression:
            raise gdb.GdbError("reweave %s: give an expression" % self.name)
        answer = self.ask(expression, given)
        gdb.write(self.tell(answer))
        if "-g" in given and answer["found"]:
            self.go(answer)

    def go(self, answer):
        self.session.goto(answer["position"])


class WhoWrote(Question):
    """Find the last change of a variable, or of 8 bytes at an address, before here: reweave who-wrote [-g] EXPR|ADDRESS.

    A write of the value that was there already does not count. With -g, goes to the instruction that is about to write.
    """

    name = "who-wrote"

    def ask(self, expression, given):
        return history.who_wrote(self.session, expression)

    def tell(self, answer):
        if not answer["found"]:
            return "%s was not changed before here\n" % answer["expression"]
        by = "  a system call wrote it\n" if answer["by_runtime"] else ""
        return "%s: %s -> %s, by %s%s" % (answer["expression"], answer["old"], answer["new"], place_line(answer), by)


class LastLock(Question):
    """Show who last took a pthread_mutex_t or std::mutex before here: reweave last-lock [-g] EXPR|ADDRESS."""

    name = "last-lock"

    def ask(self, expression, given):
        return history.last_lock(self.session, expression)

    def tell(self, answer):
        if not answer["found"]:
            return "%s was not taken before here\n" % answer["expression"]
        state = "still held" if answer["held"] else "released since"
        return "%s: taken last (%s) by %s%s" % (answer["expression"], state, place_line(answer), stack_lines(answer))


class WhereFreed(Question):
    """Show where the heap block that contains a pointer was last freed before here: reweave where-freed [-g] PTR.

    Calls of realloc with the block count as well. Only blocks of the C library's own heap are known.
    """

    name = "where-freed"

    def ask(self, expression, given):
        return history.where_freed(self.session, expression)

    def tell(self, answer):
        if not answer["found"]:
            return "the block of %#x was not freed before here\n" % answer["address"]
        return "the block of %#x was last freed by %s%s" % (answer["address"], place_line(answer), stack_lines(answer))


class When(Question):
    """The first instant at which an expression is true: reweave when [-g] [--from POSITION] EXPR.

    Looks at every change of what the expression depends on, from the first instruction of the recording, or from an
    event or position. Stays here unless -g is given.
    """

    name = "when"
    options = {"-g": False, "--from": True}

    def ask(self, expression, given):
        return history.when(self.session, expression, given.get("--from", "1"), "-g" not in given)

    def tell(self, answer):
        if not answer["found"]:
            return "%s is not true at any instant from %s on\n" % (answer["expression"], answer["from"])
        return "%s is first true in %s" % (answer["expression"], place_line(answer))

    def go(self, answer):
        self.session.show()


class Nearby(gdb.Command):
    """Shows the recording's events around here. Also works without --backward."""

    def __init__(self, session):
        super().__init__("reweave " + self.name, gdb.COMMAND_STATUS)
        self.session = session

    def invoke(self, argument, from_tty):
        history.need_process(self.session)
        try:
            count = int(argument) if argument.strip() else 10
        except ValueError:
            raise gdb.GdbError("reweave %s: give a number of events" % self.name)
        gdb.write(nearby.text_of(self.ask(self.session, count), self.session.core.event()))


class Switches(Nearby):
    """The thread switches around here: reweave switches [COUNT], of which half are before this event; default 10."""

    name = "switches"
    ask = staticmethod(nearby.switches)


class Timeline(Nearby):
    """The recorded events around here, and their threads: reweave timeline [COUNT]; half are before; default 10."""

    name = "timeline"
    ask = staticmethod(nearby.timeline)


def define(session):
    for command in (WhoWrote, LastLock, WhereFreed, When, Switches, Timeline):
        command(session)
