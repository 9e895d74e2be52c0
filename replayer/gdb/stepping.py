"""Moves a thread out of the runtime, to the program's next instruction."""

import contextlib
import os

import gdb

# Places where the runtime returns to the program: from system calls, into new threads, into new programs, from the
# shim.
EXITS = ("core_note_leave", "core_sigreturn", "core_enter_program") + tuple(
    "core_leave_core_api_" + name
    for name in ("point", "sled", "block", "wake", "trace_room", "memory_error"))
MOST_STEPS = 64  # core_enter_program clears every register first


own_symbols = {}  # addresses of the runtime's symbols (own_symbols.py)


def symbol_address(name):
    """Address of a symbol of the runtime, or None."""
    return own_symbols.get(name)


left_changed = {}  # parameters that could not be restored because the process was gone: {name: old value}


@contextlib.contextmanager
def parameter(name, value):
    """Sets a gdb parameter for a while. If the process ends meanwhile, it is restored by restore_parameters()."""
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
    """Call this when there is a process again."""
    while left_changed:
        gdb.execute("set %s %s" % left_changed.popitem(), to_string=True)


@contextlib.contextmanager
def silence():
    """Discards standard output for a while, because gdb prints stops even with `to_string`."""
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
    """The process's id in this run; with the stub, gdb knows only the recorded one."""
    if not remote:
        return gdb.selected_inferior().pid
    return int(gdb.execute("monitor pid", to_string=True))


def tell_stub(text):
    """Sends a `monitor` command at a stop. gdb.execute would execute the commands of the user's breakpoint at once."""
    connection = gdb.selected_inferior().connection
    if hasattr(connection, "send_packet"):
        connection.send_packet("qRcmd," + text.encode().hex())
    else:
        gdb.execute("monitor " + text, to_string=True)


def goes_back():
    """True within reverse-step and the like, and after `set exec-direction reverse`."""
    return remote and gdb.execute("show exec-direction", to_string=True).startswith("Reverse")


def alive():
    """True if there is a stopped process."""
    thread = gdb.selected_thread()
    return thread is not None and thread.is_valid()


def newest_pc():
    return int(gdb.newest_frame().pc())


def leave_runtime(frame):
    """Lets the replay run until the selected thread returns to `frame`, a frame of the program.

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
    """The addresses at which an instruction that reads the time stamp counter may end; none for other instructions.

    On machines where the instruction cannot be made to fault, the runtime has replaced it by clts, after which the last
    byte of rdtscp may still follow.
    """
    name, end = instruction["asm"].split()[0], instruction["addr"] + instruction["length"]
    if name in ("rdtsc", "rdtscp"):
        return [end]
    if name != "clts":
        return []
    was_rdtscp = bytes(gdb.selected_inferior().read_memory(end, 1)) == b"\xf9"
    return [end, end + 1] if was_rdtscp else [end]


def stops_after_clock_reads():
    """Sets breakpoints after the instructions of the current line that read the time stamp counter.

    gdb expects a signal handler to return to the interrupted instruction, but the runtime's handler answers the read
    and returns after it. Without these breakpoints, a step over the line would not stop.
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


internal = False  # the current command is ours, so hooks of user commands do nothing


@contextlib.contextmanager
def internally():
    """Runs commands without the hooks for the user's commands."""
    global internal
    before, internal = internal, True
    try:
        yield
    finally:
        internal = before


def run_to_program(is_core):
    """Lets the replay run until a thread is in the program. False if the run stopped before that."""
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
