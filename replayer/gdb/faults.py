"""Faults of the program: quiet while the runtime answers them, a normal gdb stop when they are fatal.

Reading the time stamp counter faults so that the runtime can answer, and some other faults are the runtime's own. The
program may handle other faults itself. So gdb passes all faults on. Before a fatal signal kills the process, the
runtime reaches a known address; the breakpoint there makes gdb stop at that signal, which is then raised again.
"""

import signal

import gdb

FAULTS = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL")


def be_quiet():
    for name in FAULTS:
        gdb.execute("handle %s nostop noprint pass" % name, to_string=True)


class EndOfProcess(gdb.Breakpoint):
    """A breakpoint where the runtime ends a process. It never stops by itself, but makes gdb stop at the signal that
    kills the process."""

    def __init__(self, address):
        super().__init__("*%#x" % address, internal=True)
        self.silent = True

    def stop(self):
        number = int(gdb.selected_frame().read_register("rdi")) & 0x7f
        if number:
            gdb.execute("handle %s stop print pass" % signal.Signals(number).name, to_string=True)
        return False
