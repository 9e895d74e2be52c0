"""Faults of the program: quiet while the runtime answers them, a normal gdb stop when they are fatal.

Reading the time stamp counter faults, so that the runtime can answer, and some faults are the runtime's own; the
program may handle others. So gdb lets faults pass. Before a process dies, the runtime passes a known place; there the
signal is made to stop the program, and the fault, which comes once more, is reported as gdb always does.
"""

import signal

import gdb

FAULTS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL")


def be_quiet():
    for name in FAULTS:
        gdb.execute("handle %s nostop noprint pass" % name, to_string=True)


class EndOfProcess(gdb.Breakpoint):
    """Where the runtime ends a process: never stops, but the signal that the process dies of will."""

    def __init__(self, address):
        super().__init__("*%#x" % address, internal=True)
        self.silent = True

    def stop(self):
        number = int(gdb.selected_frame().read_register("rdi")) & 0x7f
        if number:
            gdb.execute("handle %s stop print pass" % signal.Signals(number).name, to_string=True)
        return False
