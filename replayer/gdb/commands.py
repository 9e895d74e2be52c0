"""gdb commands of a replay: when, reweave goto, reweave back, reweave threads, and stepping out of the runtime."""

import gdb

import frames
import stepping


class When(gdb.Command):
    """Print the event and schedule point that the replay has reached."""

    def __init__(self, session):
        super().__init__("when", gdb.COMMAND_STATUS)
        self.session = session

    def invoke(self, argument, from_tty):
        require_replay(self.session)
        core = self.session.core
        gdb.write("event %d, schedule point %d\n" % (core.event(), core.step()))


class Reweave(gdb.Command):
    """Commands of the Reweave replay: goto, back, threads."""

    def __init__(self):
        super().__init__("reweave", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE, True)


class Goto(gdb.Command):
    """Restart the replay and stop before an event: reweave goto EVENT, or reweave goto end."""

    def __init__(self, session):
        super().__init__("reweave goto", gdb.COMMAND_RUNNING)
        self.session = session

    def invoke(self, argument, from_tty):
        if not argument.strip():
            raise gdb.GdbError("reweave goto: give the number of an event, or end")
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
            line = "%s t%d tid %d process %d: %s" % ("*" if thread.index == holder else " ", thread.index, thread.tid,
                                                     thread.process, thread.state)
            if thread.state == "blocked":
                line += " on the %s at %#x" % (thread.wait_kind, thread.wait_address)
                if thread.wait_owner:
                    line += ", held by tid %d" % thread.wait_owner
            gdb.write(line + "\n")


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
        wanted = argument.split()
        try:
            for thread in sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num):
                if not wanted or str(thread.num) in wanted:
                    self.show(thread, thread.ptid == selected.ptid)
        finally:
            selected.switch()
            frame.select()

    def show(self, thread, current):
        thread.switch()
        frame = frames.program_frame(self.session.is_ours)
        where = frames.describe_frame(frame) if frame is not None else "(starting)"
        gdb.write('%s %-4d LWP %d "%s" %s\n' % ("*" if current else " ", thread.num, thread.ptid[1], thread.name, where))


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
