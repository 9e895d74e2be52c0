"""Our own breakpoints in the runtime, which last as long as the process."""

import re

import gdb

from process_memory import write_memory

BREAKPOINT = b"\xcc"  # int3


def hide_own_breakpoints():
    """Hides our own breakpoints from gdb.breakpoints(), so that the user's scripts find only the user's."""
    every = gdb.breakpoints
    gdb.breakpoints = lambda: tuple(breakpoint for breakpoint in every() if breakpoint.number > 0)


class StopOfRun(gdb.Breakpoint):
    """Stops where the runtime ends a run by itself: a deadlock, a divergence, the end of a truncated recording."""

    def __init__(self, address, session):
        super().__init__("*%#x" % address, internal=True)
        self.silent = True
        self.session = session

    def stop(self):
        message = gdb.selected_frame().read_register("rsi").cast(gdb.lookup_type("char").pointer())
        self.session.end_text = message.string(errors="replace")
        gdb.write("reweave: the run ends here: %s\n" % self.session.end_text)
        gdb.flush()
        return True


class GivenUpCall(gdb.Breakpoint):
    """Prints the reason when the runtime gives up a function called by gdb. A SIGTRAP follows, at which gdb
    unwinds."""

    def __init__(self, address):
        super().__init__("*%#x" % address, internal=True)
        self.silent = True

    def stop(self):
        message = gdb.selected_frame().read_register("rdi").cast(gdb.lookup_type("char").pointer())
        gdb.write("reweave: the called function was abandoned: %s\n" % message.string(errors="replace"))
        gdb.flush()
        return False


class EndOfVfork(gdb.Breakpoint):
    """At the place where a process continues after a vfork child has used its memory. gdb has removed its breakpoints
    from the child, and with that from the shared memory, so this puts them back. This is a hardware breakpoint, because
    any other would have been removed as well."""

    ROW = re.compile(r"\s*(-?\d+)(?:\.\d+)? +(hw )?(?:\D+ )?y +(0x[0-9a-f]+)?")  # groups: number, hardware, address

    def __init__(self, address):
        super().__init__("*%#x" % address, gdb.BP_HARDWARE_BREAKPOINT, internal=True)
        self.silent = True

    def stop(self):
        text = gdb.execute("maintenance info breakpoints", to_string=True)
        rows = [row for row in map(self.ROW.match, text.splitlines()) if row]
        in_hardware = {row[1] for row in rows if row[2]}
        for number, _, address in (row.groups() for row in rows):
            if number not in in_hardware and address is not None:
                write_memory(gdb.selected_inferior().pid, int(address, 16), BREAKPOINT)
        return False


class NewProgram(gdb.Breakpoint):
    """Gives gdb the symbols of a new program, where the runtime enters a program that the process has executed."""

    def __init__(self, address, session):
        super().__init__("*%#x" % address, internal=True)
        self.silent = True
        self.session = session

    def stop(self):
        self.session.adopt_program()
        return False


class NewThread(gdb.Breakpoint):
    """At the place where a new thread enters the program. Never stops, but gdb lets a new thread run freely until it
    first stops, and checks software watchpoints only after single steps."""

    def __init__(self, address):
        super().__init__("*%#x" % address, internal=True)
        self.silent = True
        self.follow_watchpoints()

    def follow_watchpoints(self):
        needed = any(breakpoint.type == gdb.BP_WATCHPOINT and breakpoint.enabled for breakpoint in gdb.breakpoints())
        if self.enabled != needed:
            self.enabled = needed

    def stop(self):
        return False
