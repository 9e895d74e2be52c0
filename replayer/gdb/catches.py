"""`catch syscall` and `catch exec` in a replay. The kernel never sees the program's calls as such.

Each call raises SIGSYS, and the runtime's handler answers it from the recording. So a call is caught at the start of
the handler, and its return at the instruction after the call. The exec that the kernel sees is that of the runtime,
which then loads the new program.
"""

import os
import re
import struct

import gdb

import stepping

REGISTERS = 40  # offset of r8 in the handler's context (recorder/core/base/kernel_types.h)
RAX, RIP = REGISTERS + 13 * 8, REGISTERS + 16 * 8


class CatchSyscall(gdb.Command):
    """Catch system calls by name, number or group: catch syscall [NAME|NUMBER|group:GROUP|g:GROUP]..."""

    def __init__(self, session, name="catch"):
        super().__init__(name + " syscall", gdb.COMMAND_BREAKPOINTS)
        self.session, self.temporary = session, name == "tcatch"

    def invoke(self, argument, from_tty):
        numbers = [number for word in argument.split() for number in self.numbers_of(word)]
        with stepping.silence():  # gdb would announce it as a breakpoint
            catch = Catchpoint(self.session, numbers, self.temporary)
        what = " ".join("'%s' [%d]" % (self.session.call_name(number), number) for number in numbers)
        kind = "syscall " if len(numbers) == 1 else "syscalls "
        gdb.write("Catchpoint %d (%s)\n" % (catch.number, kind + what if numbers else "any syscall"))

    def numbers_of(self, word):
        names = self.session.place["calls"]
        if word.isdigit():
            return [int(word)]
        kind, _, group = word.partition(":")
        if group and "group".startswith(kind):
            return members_of(group)
        if word not in names:
            raise gdb.GdbError("Unknown syscall name '%s'." % word)
        return [names.index(word)]


def members_of(group):
    """The numbers of a group's calls, from the file in which gdb lists calls."""
    path = os.path.join(os.path.dirname(gdb.PYTHONDIR), "syscalls", "amd64-linux.xml")
    try:
        with open(path, encoding="utf-8") as listed:
            rows = re.findall(r'<syscall name="\w+" number="(\d+)" groups="([^"]*)"', listed.read())
    except OSError as error:
        raise gdb.GdbError("reweave: gdb's list of calls is missing: %s" % error) from None
    numbers = [int(number) for number, groups in rows if group in groups.split(",")]
    if not numbers:
        raise gdb.GdbError("Unknown syscall group '%s'." % group)
    return numbers


class Catchpoint(gdb.Breakpoint):
    """Stops at the handler of SIGSYS. `numbers`: the numbers of the wanted calls; empty: all calls."""

    in_runtime = True  # allowed in the runtime, unlike other breakpoints of the user

    def __init__(self, session, numbers, temporary):
        self.session, self.numbers = session, numbers
        self.title = "Temporary catchpoint" if temporary else "Catchpoint"
        super().__init__("*%#x" % stepping.symbol_address("core_on_sigsys"), temporary=temporary)
        self.silent = True

    def stop(self):
        context = int(gdb.selected_frame().read_register("rdx"))
        memory = gdb.selected_inferior()
        call, = struct.unpack("<i", memory.read_memory(context + RAX, 4).tobytes())
        if self.numbers and call not in self.numbers:
            return False
        after, = struct.unpack("<Q", memory.read_memory(context + RIP, 8).tobytes())
        name = self.session.call_name(call)
        self.announce("call to syscall " + name)
        Return(self, name, after)
        return True

    def announce(self, what):
        """Announces a stop, unless the user's commands for it begin with `silent`."""
        if not (self.commands or "").lstrip().startswith("silent"):
            self.session.announce("%s %d (%s)" % (self.title, self.number, what))


class Return(gdb.Breakpoint):
    """Stops once, when a caught call returns."""

    def __init__(self, catch, name, address):
        super().__init__("*%#x" % address, internal=True, temporary=True)
        self.catch, self.name = catch, name
        self.thread = gdb.selected_thread().global_num
        self.silent = True
        if catch.commands:
            self.commands = catch.commands

    def stop(self):
        if not self.catch.is_valid() or not self.catch.enabled:
            return False
        self.catch.announce("returned from syscall " + self.name)
        return True


class CatchExec(gdb.Command):
    """Catch calls to exec, where the new program is entered."""

    def __init__(self, session, name="catch"):
        super().__init__(name + " exec", gdb.COMMAND_BREAKPOINTS)
        self.session, self.temporary = session, name == "tcatch"

    def invoke(self, argument, from_tty):
        with stepping.silence():
            catch = Executed(self.session, self.temporary)
        gdb.write("Catchpoint %d (exec)\n" % catch.number)


class Executed(gdb.Breakpoint):
    """Stops where the runtime enters a program."""

    in_runtime = True

    def __init__(self, session, temporary):
        self.session, self.title = session, "Temporary catchpoint" if temporary else "Catchpoint"
        super().__init__("*%#x" % stepping.symbol_address("core_enter_program"), temporary=temporary)
        self.silent = True

    def stop(self):
        program = self.session.adopt_program()
        self.session.announce_place("%s %d (exec'd %s), before its first instruction" % (self.title, self.number, program))
        return True
