"""Loops in which an instruction is a schedule point (recorder/core/code/counted_loops.h).

The runtime has a jump there, and would have a trap for a debugger: the user would see either, and gdb could not step over
it. So while the program is stopped its code is as it was compiled, and a breakpoint of ours counts in the runtime's place;
only when the countdown has run out, the runtime is entered. Loops that are not near anything that the user looks at have
their jumps back while the program runs, for they are a thousand times as fast.
"""

import struct

import gdb

import stepping
from process_memory import write_memory

LOOP = "<QQQQQBBxxI24s"  # CountedLoop of counted_loops.cc
LOOP_BYTES = 152
HAS_TRAP_AT = 40
COUNTDOWN_AT = 8  # of the runtime's Thread, where the base of %gs is
JUMP_BYTES = 5
NEAR = 1024  # bytes of code
MOST_FRAMES = 64


def read(address, size):
    return gdb.selected_inferior().read_memory(address, size).tobytes()


def write(address, data):
    write_memory(stepping.real_pid(), address, data)


class Loop:
    """One of the runtime's table, at `address`."""

    def __init__(self, address):
        self.address = address
        data = read(address, LOOP_BYTES)
        self.start, self.covers, self.stub, self.spent, _, _, _, count, original = struct.unpack_from(LOOP, data)
        self.original = original[:self.covers]
        moves = struct.iter_unpack("<QQ", data[struct.calcsize(LOOP):][:16 * count])
        self.moved = dict(moves)  # where the stub has the instructions that the jump covers

    def set_code(self, jumps):
        """The jump, or what it covers."""
        jump = b"\xe9" + struct.pack("<i", self.stub - (self.start + JUMP_BYTES))
        write(self.start, (jump if jumps else b"") + self.original[JUMP_BYTES if jumps else 0:])
        write(self.address + HAS_TRAP_AT, bytes([not jumps]))

    def covers_place(self, address):
        return self.start <= address < self.start + self.covers

    def is_near(self, address):
        """True if it is in the same function."""
        start, end = function_around(self.start)
        return start <= address < end


def function_around(address):
    """Where it begins and ends, if gdb knows; else some code around the address."""
    block = gdb.current_progspace().block_for_pc(address)
    while block is not None and block.function is None:
        block = block.superblock
    return (address - NEAR, address + NEAR) if block is None else (block.start, block.end)


class CountingBreakpoint(gdb.Breakpoint):
    """Counts a turn of a loop."""

    def __init__(self, loop, counted_at):
        super().__init__("*%#x" % loop.start, internal=True)
        self.silent = True
        self.loop = loop
        self.counted_at = counted_at  # where that is in a Thread

    def stop(self):
        thread = int(gdb.newest_frame().read_register("gs_base"))
        counter, counted = thread + COUNTDOWN_AT, thread + self.counted_at
        if struct.unpack("<Q", read(counted, 8))[0] == self.loop.start:  # by the runtime, from which it comes
            write(counted, bytes(8))
            return False
        left = struct.unpack("<q", read(counter, 8))[0] - 1
        write(counter, struct.pack("<q", left))
        if left < 0:  # as the stub would go on
            with stepping.internally():
                gdb.execute("set var $pc = %#x" % self.loop.spent, to_string=True)
        return False


class Counting:
    """The counted loops of the process that gdb is attached to."""

    def __init__(self):
        self.breakpoints = {}  # by the loop's start

    def forget(self):
        """The process is gone."""
        for breakpoint in self.breakpoints.values():
            if breakpoint.is_valid():
                breakpoint.delete()
        self.breakpoints = {}

    def loops(self):
        table, count = map(stepping.symbol_address, ("core_counted_loops", "core_counted_loop_count"))
        if table is None or count is None:
            return []
        every = [Loop(table + i * LOOP_BYTES) for i in range(struct.unpack("<I", read(count, 4))[0])]
        return [loop for loop in every if loop.start != 0]

    def show_code(self, memory):
        """The program is stopped: its code becomes what it was."""
        loops = self.loops()
        for start in set(self.breakpoints) - {loop.start for loop in loops}:
            self.breakpoints.pop(start).delete()
        for loop in loops:
            loop.set_code(jumps=False)
            if loop.start not in self.breakpoints:
                self.breakpoints[loop.start] = CountingBreakpoint(loop, memory["thread_counted_at"])
            self.breakpoints[loop.start].enabled = True
        if loops:
            gdb.execute("maintenance flush dcache", to_string=True)

    def hurry(self, steps, anywhere):
        """The program goes on: where nothing is to be seen, loops count by themselves. `steps`: by one of gdb's steps, for
        which the functions that the selected thread is in are to be seen. `anywhere`: gdb plants breakpoints in others,
        which must not be in the midst of what a jump covers."""
        seen, passed = places_of_breakpoints(), places_of_thread() if steps else []
        for loop in self.loops():
            if loop.start not in self.breakpoints or (anywhere and len(loop.moved) > 1):
                continue
            if any(map(loop.covers_place, seen)) or any(map(loop.is_near, passed)):
                continue
            self.breakpoints[loop.start].enabled = False
            loop.set_code(jumps=True)
            move_threads(loop)


def places_of_breakpoints():
    return [location.address for breakpoint in gdb.breakpoints() for location in getattr(breakpoint, "locations", ())]


def places_of_thread():
    """Where the selected thread is, and where its functions return to."""
    places = []
    frame = gdb.newest_frame()
    while frame is not None and len(places) < MOST_FRAMES:
        places.append(int(frame.pc()))
        frame = frame.older()
    return places


def move_threads(loop):
    """Those that are where a jump is now, and have counted, to where they would be."""
    here = gdb.selected_thread()
    with stepping.internally():
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            moved = loop.moved.get(stepping.newest_pc())
            if moved is not None:
                gdb.execute("frame 0", to_string=True)
                gdb.execute("set var $pc = %#x" % moved, to_string=True)
        here.switch()
