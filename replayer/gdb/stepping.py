"""Getting a thread out of the runtime, to the program's next instruction."""

import contextlib
import os

import gdb

# Where the runtime returns to the program: from system calls, into new threads, into new programs, from the shim.
EXITS = ("core_note_leave", "core_sigreturn", "core_enter_program") + tuple(
    "core_leave_core_api_" + name
    for name in ("point", "sled", "block", "wake", "trace_room", "memory_error"))
MOST_STEPS = 64  # core_enter_program clears every register first


own_symbols = {}  # addresses of the runtime's symbols (own_symbols.py)


def symbol_address(name):
    """Address of a symbol of the runtime, or None."""
    return own_symbols.get(name)


left_changed = {}  # parameters that could not be set back, for the process was gone, and what they were


@contextlib.contextmanager
def parameter(name, value):
    """Sets a gdb parameter for a while, or if the process ends meanwhile until restore_parameters()."""
    before = gdb.execute("show " + name, to_string=True)
    old = before.split('"')[1].split(";")[0] if '"' in before else before
    gdb.execute("set %s %s" % (name, value), to_string=True)
    try:
        yield
    finally:
        try:
            gdb.execute("set %s %s" % (name, old), to_string=True)
        except gdb.error:
            if alive():
                raise
            left_changed[name] = old


def restore_parameters():
    """To be called when there is a process again."""
    while left_changed:
        gdb.execute("set %s %s" % left_changed.popitem(), to_string=True)


@contextlib.contextmanager
def silence():
    """Nothing reaches the standard output meanwhile: gdb prints stops past `to_string`."""
    gdb.flush()
    kept = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
    try:
        yield
    finally:
        gdb.flush()
        os.dup2(kept, 1)
        os.close(kept)


remote = False  # gdb is connected to our stub, which may change the process at each stop


def real_pid():
    """The process's id in this run; gdb knows the one that it was recorded with."""
    if not remote:
        return gdb.selected_inferior().pid
    return int(gdb.execute("monitor pid", to_string=True))


def tell_stub(text):
    """As `monitor`, at a stop: gdb.execute would execute the commands of the user's breakpoint at once."""
    connection = gdb.selected_inferior().connection
    if hasattr(connection, "send_packet"):
        connection.send_packet("qRcmd," + text.encode().hex())
    else:
        gdb.execute("monitor " + text, to_string=True)


def goes_back():
    """True within reverse-step and the like, and after `set exec-direction reverse`."""
    return remote and gdb.execute("show exec-direction", to_string=True).startswith("Reverse")


def alive():
    """True if there is a process, stopped, to look at."""
    thread = gdb.selected_thread()
    return thread is not None and thread.is_valid()


def newest_pc():
    return int(gdb.newest_frame().pc())


def leave_runtime(frame):
    """Lets the replay run until the selected thread is back in `frame`, a frame of the program that it is to return to.

    Raises GdbError if the run stops elsewhere before.
    """
    thread = gdb.selected_thread()
    address = int(frame.pc())
    stop = gdb.Breakpoint("*%#x" % address, internal=True)
    stop.silent = True
    stop.thread = thread.global_num
    try:
        with internally():
            gdb.execute("continue")
    finally:
        stop.delete()
    if not alive() or gdb.selected_thread() != thread or newest_pc() != address:
        raise gdb.GdbError("The replay stopped elsewhere, before the thread went on.")


def ends_of_clock_read(instruction):
    """Where an instruction may end that reads the time stamp counter; nowhere if it is another.

    Where the instruction cannot be made to fault, the runtime has put clts in its place, and the last byte of rdtscp
    is still behind that.
    """
    name, end = instruction["asm"].split()[0], instruction["addr"] + instruction["length"]
    if name in ("rdtsc", "rdtscp"):
        return [end]
    if name != "clts":
        return []
    was_rdtscp = bytes(gdb.selected_inferior().read_memory(end, 1)) == b"\xf9"
    return [end, end + 1] if was_rdtscp else [end]


def stops_after_clock_reads():
    """Breakpoints after the instructions of the current line that read the time stamp counter.

    gdb expects a signal handler to return to where the signal came, but the runtime's answers the read and returns
    behind it: a step over the line would run away.
    """
    pc = newest_pc()
    line = gdb.find_pc_line(pc)
    end = line.last if line.last is not None else pc
    stops = []
    for instruction in gdb.selected_frame().architecture().disassemble(pc, end):
        for address in ends_of_clock_read(instruction):
            stop = gdb.Breakpoint("*%#x" % address, internal=True)
            stop.thread = gdb.selected_thread().global_num
            stops.append(stop)
    return stops


internal = False  # the command under way is ours: what surrounds the user's is not wanted


@contextlib.contextmanager
def internally():
    """Commands run without the hooks of the user's meanwhile."""
    global internal
    before, internal = internal, True
    try:
        yield
    finally:
        internal = before


def run_to_program(is_core):
    """Lets the replay run until a thread is in the program. True if it is, False if the run stopped before that."""
    stops = [gdb.Breakpoint("*%#x" % address, internal=True)
             for address in map(symbol_address, EXITS) if address is not None]
    places = {int(stop.location[1:], 16) for stop in stops}
    try:
        with internally():
            gdb.execute("continue", to_string=True)
    finally:
        for stop in stops:
            stop.delete()
    if not alive() or newest_pc() not in places:
        return False
    with parameter("scheduler-locking", "on"):
        for _ in range(MOST_STEPS):
            if not is_core(newest_pc()):
                return True
            with internally():
                gdb.execute("stepi", to_string=True)
    return False
