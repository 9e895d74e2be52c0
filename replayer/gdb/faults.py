"""Faults of the program: quiet while the runtime answers them, a normal gdb stop when they are fatal.

Reading the time stamp counter faults so that the runtime can answer, and some other faults are the runtime's own. The
program may handle more. So gdb lets faults pass. Before a process dies, the runtime passes a known place. There the
signal is set to stop the program; the fault then occurs again, and gdb reports it as usual.
"""

import signal

import gdb

FAULTS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL")


def be_quiet():
    for name in FAULTS:
        gdb.execute("handle %s nostop noprint pass" % name, to_string=True)


class EndOfProcess(gdb.Breakpoint):
    """At the place where the runtime ends a process. Never stops, but makes the signal that kills the process stop."""

    def __init__(self, address):
        super().__init__("*%#x" % address, internal=True)
        self.silent = True

    def stop(self):
        number = int(gdb.selected_frame().read_register("rdi")) & 0x7f
        if number:
            gdb.execute("handle %s stop print pass" % signal.Signals(number).name, to_string=True)
        return False
