"""Our own breakpoints, in the runtime, that last as long as the process."""

import gdb


def hide_own_breakpoints():
    """Scripts of the user's find only the user's breakpoints in gdb.breakpoints()."""
    every = gdb.breakpoints
    gdb.breakpoints = lambda: tuple(breakpoint for breakpoint in every() if breakpoint.number > 0)


class StopOfRun(gdb.Breakpoint):
    """Stops where the runtime ends a run by itself: a deadlock, a divergence, the end of a truncated recording."""

    def __init__(self, address):
        super().__init__("*%#x" % address, internal=True)
        self.silent = True

    def stop(self):
        message = gdb.selected_frame().read_register("rsi").cast(gdb.lookup_type("char").pointer())
        gdb.write("reweave: the run ends here: %s\n" % message.string(errors="replace"))
        gdb.flush()
        return True


class GivenUpCall(gdb.Breakpoint):
    """Where the runtime gives up a function that gdb calls: says why. A SIGTRAP follows, on which gdb unwinds."""

    def __init__(self, address):
        super().__init__("*%#x" % address, internal=True)
        self.silent = True

    def stop(self):
        message = gdb.selected_frame().read_register("rdi").cast(gdb.lookup_type("char").pointer())
        gdb.write("reweave: the called function is given up: %s\n" % message.string(errors="replace"))
        gdb.flush()
        return False


class NewProgram(gdb.Breakpoint):
    """Stops where the runtime enters a program that the process has executed: gdb has lost its symbols."""

    def __init__(self, address):
        super().__init__("*%#x" % address, internal=True)
        self.silent = True
        self.address = address


class NewThread(gdb.Breakpoint):
    """Where a new thread goes on to the program: stops nowhere, but gdb lets a new thread run until it first stops,
    and looks at what a software watchpoint watches only after single steps."""

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
