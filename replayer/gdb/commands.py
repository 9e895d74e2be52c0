"""gdb commands of a replay: when, reweave goto, reweave back, reweave threads, and stepping out of the runtime."""

import re

import gdb

import frames
import stepping


class When(gdb.Command):
    """Print the event and schedule point that the replay has reached, and the position, a name for this instant."""

    def __init__(self, session):
        super().__init__("when", gdb.COMMAND_STATUS)
        self.session = session

    def invoke(self, argument, from_tty):
        require_replay(self.session)
        core = self.session.core
        gdb.write("event %d, schedule point %d\n" % (core.event(), core.step()))
        if stepping.remote:
            self.session.excursion.end()
            gdb.write("position %s\n" % self.session.position())


class Reweave(gdb.Command):
    """Commands of the Reweave replay: goto, back, threads, who-wrote, when, last-lock, where-freed, switches, timeline."""

    def __init__(self):
        super().__init__("reweave", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE, True)


class Goto(gdb.Command):
    """Go to an event, or to a position as `when` names it: reweave goto EVENT|POSITION|end."""

    def __init__(self, session):
        super().__init__("reweave goto", gdb.COMMAND_RUNNING)
        self.session = session

    def invoke(self, argument, from_tty):
        if not argument.strip():
            raise gdb.GdbError("reweave goto: give the number of an event, a position, or end")
        self.session.goto(argument.strip())


class Back(gdb.Command):
    """Restart the replay and stop before an earlier event: reweave back [EVENTS]; default 1."""

    def __init__(self, session):
        super().__init__("reweave back", gdb.COMMAND_RUNNING)
        self.session = session

    def invoke(self, argument, from_tty):
        count = int(argument) if argument.strip() else 1
        self.session.back(count)


class Threads(gdb.Command):
    """List all threads of the replayed tree: state, and what they wait for."""

    def __init__(self, session):
        super().__init__("reweave threads", gdb.COMMAND_STATUS)
        self.session = session

    def invoke(self, argument, from_tty):
        require_replay(self.session)
        holder = self.session.core.holder()
        for thread in self.session.core.threads():
            if thread.state == "exited":
                continue
            line = "%s t%d tid %d process %d: " % ("*" if thread.index == holder else " ", thread.index, thread.tid,
                                                   thread.process)
            gdb.write(line + (self.last_wait(thread) or self.state(thread)) + "\n")

    @staticmethod
    def state(thread):
        if thread.state != "blocked":
            return thread.state
        held = ", held by tid %d" % thread.wait_owner if thread.wait_owner else ""
        return "blocked on the %s at %#x%s" % (thread.wait_kind, thread.wait_address, held)

    def last_wait(self, thread):
        """The wait of the thread that ended the replay because it was about to wait forever; None for other threads."""
        found = re.search(r"thread %d waits for an? (.*?) at (0x\w+)(?:, pc \w+)?(?:, held by thread (\d+))?" % thread.index,
                          self.session.end_text)
        if not found or thread.state != "running":
            return None
        owners = [other.tid for other in self.session.core.threads() if found[3] and other.index == int(found[3])]
        return "blocked on the %s at %s%s" % (found[1], found[2], ", held by tid %d" % owners[0] if owners else "")


class AfterThread(gdb.Command):
    """Internal: runs after `thread N`, which shows the runtime's frame."""

    def __init__(self, session):
        super().__init__("reweave-after-thread", gdb.COMMAND_OBSCURE)
        self.session = session
        gdb.execute("define hookpost-thread\nreweave-after-thread\nend")

    def invoke(self, argument, from_tty):
        if stepping.alive() and self.session.is_ours(gdb.newest_frame()):
            self.session.show_program_frame()
            gdb.execute("frame")


def numbers_of(argument):
    """The numbers in a list of threads such as `2 4-6 1.3`. There is only one process."""
    numbers = set()
    for word in argument.replace("$_thread", str(gdb.selected_thread().num)).split():
        first, _, last = word.rpartition(".")[2].partition("-")
        if not first.isdigit() or not (last or first).isdigit():
            raise gdb.GdbError("Invalid thread ID: %s" % word)
        numbers.update(range(int(first), int(last or first) + 1))
    return numbers


class InfoThreads(gdb.Command):
    """Display threads, each with the program's innermost frame."""

    def __init__(self, session):
        super().__init__("info threads", gdb.COMMAND_STATUS)
        self.session = session

    def invoke(self, argument, from_tty):
        selected = gdb.selected_thread()
        if selected is None:
            gdb.write("No threads.\n")
            return
        frame = gdb.selected_frame()
        wanted = numbers_of(argument)
        threads = [thread for thread in gdb.selected_inferior().threads() if not wanted or thread.num in wanted]
        if not threads:
            gdb.write("No threads match '%s'.\n" % argument.strip())
            return
        gdb.write("  Id   Target Id           Frame\n")
        try:
            for thread in sorted(threads, key=lambda thread: thread.num):
                self.show(thread, thread.ptid == selected.ptid)
        finally:
            selected.switch()
            frame.select()

    def show(self, thread, current):
        thread.switch()
        frame = frames.program_frame(self.session.is_ours)
        where = frames.describe_frame(frame) if frame is not None else "(starting)"
        gdb.write('%s %-4d LWP %d "%s" %s\n' % ("*" if current else " ", thread.num, thread.ptid[1], thread.name, where))


class Checkpoint(gdb.Command):
    """Remember this instant; `restart N` returns to it."""

    def __init__(self, marks):
        super().__init__("checkpoint", gdb.COMMAND_RUNNING)
        self.marks = marks

    def invoke(self, argument, from_tty):
        self.marks.add()


class Restart(gdb.Command):
    """Return to the instant of a checkpoint: restart N."""

    def __init__(self, marks):
        super().__init__("restart", gdb.COMMAND_RUNNING)
        self.marks = marks

    def invoke(self, argument, from_tty):
        self.marks.go(argument.strip())


class DeleteCheckpoint(gdb.Command):
    """Forget a checkpoint: delete checkpoint N."""

    def __init__(self, marks):
        super().__init__("delete checkpoint", gdb.COMMAND_RUNNING)
        self.marks = marks

    def invoke(self, argument, from_tty):
        self.marks.forget(argument.strip())


class InfoCheckpoints(gdb.Command):
    """List the checkpoints."""

    def __init__(self, marks):
        super().__init__("info checkpoints", gdb.COMMAND_STATUS)
        self.marks = marks

    def invoke(self, argument, from_tty):
        self.marks.show()


class Marks:
    """Instants to which the user has given numbers."""

    def __init__(self, session):
        self.session = session
        self.marks = {}  # by number: position, and source line or address
        self.last = 0

    def add(self):
        require_replay(self.session)
        self.session.excursion.end()
        position = self.session.position()
        if " " in position:
            raise gdb.GdbError("reweave: this thread is in the runtime, where a checkpoint is not possible; `stepi` "
                               "moves it to the next place where a checkpoint is possible")
        self.last += 1
        sal = gdb.selected_frame().find_sal()
        where = "at %#x" % stepping.newest_pc() if sal.symtab is None else "%s:%d" % (sal.symtab.filename, sal.line)
        self.marks[self.last] = (position, where)
        gdb.write("Checkpoint %d at %s\n" % (self.last, where))

    def mark(self, number):
        if not number.isdigit() or int(number) not in self.marks:
            raise gdb.GdbError("No checkpoint number %s." % (number or "given"))
        return int(number)

    def go(self, number):
        self.session.goto(self.marks[self.mark(number)][0])

    def forget(self, number):
        del self.marks[self.mark(number)]

    def show(self):
        if not self.marks:
            gdb.write("No checkpoints.\n")
        for number, (position, where) in self.marks.items():
            gdb.write("%d %s %s\n" % (number, position, where))


def require_replay(session):
    if session.core is None or not stepping.alive():
        raise gdb.GdbError("The replay is not running; reweave goto EVENT starts it again.")


def define(session):
    When(session)
    Reweave()
    Goto(session)
    Back(session)
    Threads(session)
    InfoThreads(session)
    AfterThread(session)
    if stepping.remote:
        marks = Marks(session)
        for command in (Checkpoint, Restart, DeleteCheckpoint, InfoCheckpoints):
            command(marks)
