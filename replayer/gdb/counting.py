"""Loops in which an instruction is a schedule point (recorder/core/code/counted_loops.h).

The runtime replaces that instruction by a jump to a stub that counts, or under a debugger by a trap. The user would see
the jump or the trap, and gdb could not step over it. So while the program is stopped, its code is shown as it was
compiled, and a breakpoint of ours counts instead of the runtime, which is entered only when the countdown has run out.
While the program runs, loops that are far from anything the user looks at get their jumps back, because these are a
thousand times faster.
"""

import struct

import gdb

import stepping
from process_memory import write_memory

LOOP = "<QQQQQBBxxI24s"  # CountedLoop of recorder/counted_loop.h
LOOP_BYTES = 152
HAS_TRAP_AT = 40
COUNTDOWN_AT = 8  # offset in the runtime's Thread, at the base of %gs
JUMP_BYTES = 5
NEAR = 1024  # bytes of code
MOST_FRAMES = 64


def read(address, size):
    return gdb.selected_inferior().read_memory(address, size).tobytes()


def write(address, data):
    write_memory(stepping.real_pid(), address, data)


class Loop:
    """An entry of the runtime's table of loops, at `address`."""

    def __init__(self, address):
        self.address = address
        data = read(address, LOOP_BYTES)
        self.start, self.covers, self.stub, self.spent, _, _, _, count, original = struct.unpack_from(LOOP, data)
        self.original = original[:self.covers]
        moves = struct.iter_unpack("<QQ", data[struct.calcsize(LOOP):][:16 * count])
        self.moved = dict(moves)  # addresses in the stub of the instructions that the jump covers

    def set_code(self, jumps):
        """Writes the jump, or the instructions that it covers."""
        jump = b"\xe9" + struct.pack("<i", self.stub - (self.start + JUMP_BYTES))
        write(self.start, (jump if jumps else b"") + self.original[JUMP_BYTES if jumps else 0:])
        write(self.address + HAS_TRAP_AT, bytes([not jumps]))

    def covers_place(self, address):
        return self.start <= address < self.start + self.covers

    def is_near(self, address):
        """True if the address is in the loop's function."""
        start, end = function_around(self.start)
        return start <= address < end


def function_around(address):
    """The start and end of the function around the address, if gdb knows it; else of some code around the address."""
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
        self.counted_at = counted_at  # offset of that field in a Thread

    def stop(self):
        thread = int(gdb.newest_frame().read_register("gs_base"))
        counter, counted = thread + COUNTDOWN_AT, thread + self.counted_at
        if struct.unpack("<Q", read(counted, 8))[0] == self.loop.start:  # the runtime has already counted this turn
            write(counted, bytes(8))
            return False
        left = struct.unpack("<q", read(counter, 8))[0] - 1
        write(counter, struct.pack("<q", left))
        if left < 0:  # continue where the stub would
            with stepping.internally():
                gdb.execute("set var $pc = %#x" % self.loop.spent, to_string=True)
        return False


class Counting:
    """The counted loops of the process that gdb is attached to."""

    def __init__(self):
        self.breakpoints = {}  # by the loop's start

    def forget(self):
        """Call this when the process is gone."""
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
        """Restores the program's code while it is stopped."""
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
        """Call this before the program continues: gives loops their jumps back where the user would not see them.
        `steps`: gdb will step, so the functions that the selected thread is in must stay as compiled. `anywhere`:
        gdb may also insert breakpoints in other functions, which must not be inside the code that a jump covers."""
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
    """The selected thread's address, and the return addresses of its functions."""
    places = []
    frame = gdb.newest_frame()
    while frame is not None and len(places) < MOST_FRAMES:
        places.append(int(frame.pc()))
        frame = frame.older()
    return places


def move_threads(loop):
    """Moves threads that are inside the code that a jump now covers, and have counted, to the same place in the
    stub."""
    here = gdb.selected_thread()
    with stepping.internally():
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            moved = loop.moved.get(stepping.newest_pc())
            if moved is not None:
                gdb.execute("frame 0", to_string=True)
                gdb.execute("set var $pc = %#x" % moved, to_string=True)
        here.switch()
