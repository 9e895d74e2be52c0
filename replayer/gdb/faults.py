"""Tells the program's own faults from reads of the time stamp counter, which fault so that the runtime can answer.

gdb decides by a table whether a signal stops the program; nothing can be asked there. But the condition of a
catchpoint is evaluated just before the table is read. So the table says "go on", and the condition, which never holds,
changes it for a fault that is real.
"""

import gdb

import stepping

QUIET = "handle SIGSEGV nostop noprint pass"
LOUD = "handle SIGSEGV stop print pass"
READS = (b"\x0f\x31", b"\x0f\x01\xf9")  # rdtsc, rdtscp


class FaultFilter(gdb.Function):
    """The condition: $_reweave_fault()."""

    def __init__(self):
        super().__init__("_reweave_fault")
        self.catchpoint = None

    def invoke(self):
        if not reads_clock():
            gdb.execute(LOUD, to_string=True)
        return False

    def install(self):
        """For a replay in which the counter will be read; every other fault is the program's."""
        gdb.execute(QUIET, to_string=True)
        if self.catchpoint is None or not exists(self.catchpoint):
            gdb.execute("catch signal SIGSEGV", to_string=True)
            self.catchpoint = int(gdb.convenience_variable("bpnum"))
            gdb.execute("condition %d $_reweave_fault()" % self.catchpoint, to_string=True)

    def remove(self):
        gdb.execute(LOUD, to_string=True)
        if self.catchpoint is not None and exists(self.catchpoint):
            gdb.execute("delete %d" % self.catchpoint, to_string=True)
        self.catchpoint = None

    def restore(self):
        """At each stop the next fault is to be judged anew; and a user's `delete` is not meant for the catchpoint."""
        if self.catchpoint is not None:
            self.install()


def exists(number):
    return "No breakpoint" not in gdb.execute("info breakpoints %d" % number, to_string=True)


def reads_clock():
    pc = stepping.newest_pc()
    try:
        code = gdb.selected_inferior().read_memory(pc, 3).tobytes()
    except gdb.MemoryError:
        return False  # the fault is the jump to this address
    return code.startswith(READS)
