"""`catch syscall` in a replay: the program's calls, which the kernel never sees as such.

Each raises SIGSYS, and the runtime's handler answers it from the recording. So a call is caught where the handler
begins, and its return at the instruction behind the call.
"""

import struct

import gdb

import stepping

REGISTERS = 40  # of the handler's context: where r8 begins (recorder/core/base/kernel_types.h)
RAX, RIP = REGISTERS + 13 * 8, REGISTERS + 16 * 8


class CatchSyscall(gdb.Command):
    """Catch system calls by name or number: catch syscall [NAME|NUMBER]..."""

    def __init__(self, session):
        super().__init__("catch syscall", gdb.COMMAND_BREAKPOINTS)
        self.session = session

    def invoke(self, argument, from_tty):
        numbers = [self.number_of(word) for word in argument.split()]
        catch = Catchpoint(self.session, numbers)
        what = " ".join("'%s'" % self.session.call_name(number) for number in numbers)
        gdb.write("Catchpoint %d (%s)\n" % (catch.number, "syscall " + what if numbers else "any syscall"))

    def number_of(self, word):
        names = self.session.place["calls"]
        if word.isdigit():
            return int(word)
        if word not in names:
            raise gdb.GdbError("Unknown syscall name '%s'." % word)
        return names.index(word)


class Catchpoint(gdb.Breakpoint):
    """At the handler of SIGSYS; `numbers` of the calls, none for all."""

    in_runtime = True  # where no other breakpoint of the user's may be

    def __init__(self, session, numbers):
        self.session, self.numbers = session, numbers
        super().__init__("*%#x" % stepping.symbol_address("core_on_sigsys"))
        self.silent = True

    def stop(self):
        context = int(gdb.selected_frame().read_register("rdx"))
        memory = gdb.selected_inferior()
        call, = struct.unpack("<i", memory.read_memory(context + RAX, 4).tobytes())
        if self.numbers and call not in self.numbers:
            return False
        after, = struct.unpack("<Q", memory.read_memory(context + RIP, 8).tobytes())
        name = self.session.call_name(call)
        self.session.announce("Catchpoint %d (call to syscall %s)" % (self.number, name))
        Return(self, name, after)
        return True


class Return(gdb.Breakpoint):
    """Behind a caught call, once."""

    def __init__(self, catch, name, address):
        super().__init__("*%#x" % address, internal=True, temporary=True)
        self.catch, self.name = catch, name
        self.thread = gdb.selected_thread().global_num
        self.silent = True

    def stop(self):
        if not self.catch.is_valid() or not self.catch.enabled:
            return False
        self.catch.session.announce("Catchpoint %d (returned from syscall %s)" % (self.catch.number, self.name))
        return True
