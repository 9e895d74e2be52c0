"""Undoes changes that gdb's user makes in the process, before the program continues.

A replay must have the memory of the recorded run. But `print f(x)` runs the program's code, and `set var x = 1` writes
its memory. So before the first of these after a stop, everything that the process can write is copied; the copy is put
back when the program continues. Meanwhile the runtime takes no system call from the recording
(recorder/core/base/debugger_call.h). gdb itself restores the registers after a call.
"""

import struct

import gdb

import stepping
from process_memory import Snapshot, write_memory

BELOW_FRAMES = 4096  # bytes left free on the runtime's stack below the frames in use


class Excursion:
    """The changes in the session's process that must be undone."""

    def __init__(self, session):
        self.session = session
        self.saved = None  # a Snapshot if there may be changes, else None
        self.registers = None  # of the selected thread: {name: value}
        self.depth = 0  # number of nested calls in progress
        self.locking = None  # the user's scheduler-locking during a call
        self.told = False
        gdb.events.inferior_call.connect(self.on_call)
        gdb.events.memory_changed.connect(self.on_change)
        gdb.events.register_changed.connect(self.on_change)

    def begin(self):
        """Call this before something changes."""
        if self.saved is not None or self.session.core is None or not stepping.alive():
            return
        memory = self.session.core.memory

        def is_wanted(address):
            ours = memory["core_start"] <= address < memory["shadow_end"]
            return not ours or address >= memory["shadow_start"]

        thread = self.session.core.thread_address(gdb.selected_thread().ptid[1])
        words = [] if thread is None else [(thread, memory["thread_bytes"])]
        self.depth = 0
        self.saved = Snapshot(stepping.real_pid(), is_wanted, words)
        self.told = False

    def end(self):
        """Call this before the program continues."""
        if self.saved is None or not stepping.alive():
            self.saved = self.registers = None
            return
        self.abandon_calls()
        self.set_calling(False)
        self.put_back()

    def put_back(self):
        self.saved.put_back()
        self.saved = None
        gdb.execute("maintenance flush dcache", to_string=True)
        if self.registers is not None:
            thread, values = self.registers
            self.registers = None
            with stepping.internally():
                write_registers(thread, values)

    def forget(self):
        """Call this when the process is gone."""
        self.saved = self.registers = None
        if self.locking is not None:
            gdb.execute("set scheduler-locking " + self.locking, to_string=True)
            self.locking = None

    def abandon_calls(self):
        """Leaves functions called by gdb that have stopped, for example at a breakpoint."""
        while True:
            frame = gdb.newest_frame()
            while frame is not None and frame.type() != gdb.DUMMY_FRAME:
                frame = frame.older()
            if frame is None:
                return
            frame.newer().select()
            with stepping.internally():
                gdb.execute("return", to_string=True)
            gdb.write("reweave: the function called from gdb was abandoned\n")

    def set_calling(self, calling):
        """Tells the runtime whether gdb calls a function. Meanwhile it takes nothing from the recording, so no other
        thread may run."""
        if calling and self.locking is None:
            self.locking = gdb.parameter("scheduler-locking")
            gdb.execute("set scheduler-locking on", to_string=True)
        elif not calling and self.locking is not None:
            gdb.execute("set scheduler-locking " + self.locking, to_string=True)
            self.locking = None
        write_memory(stepping.real_pid(), stepping.symbol_address("core_debugger_call"),
                     struct.pack("<I", calling))

    def on_call(self, event):
        if self.session.core is None or not stepping.alive():
            return
        if isinstance(event, gdb.InferiorCallPreEvent):
            self.begin()
            self.depth += 1  # gdb calls malloc for a string among the arguments of another call
            self.set_calling(True)
            self.make_room(event.ptid[1])
            return
        self.depth = max(self.depth - 1, 0)
        if self.depth > 0 or not stepping.alive():
            return
        self.set_calling(False)
        if self.session.running:  # this was a breakpoint's condition: gdb may continue the program at once
            self.put_back()

    def make_room(self, real_tid):
        """Makes the runtime use its stack below the frames of a waiting thread, which a called function must not
        overwrite."""
        memory = self.session.core.memory
        thread = self.session.core.thread_address(real_tid)
        stack = int(gdb.newest_frame().read_register("rsp"))
        if thread is not None and memory["stacks_start"] <= stack < memory["stacks_end"]:
            top = (stack - BELOW_FRAMES) & ~15
            write_memory(stepping.real_pid(), thread + memory["thread_stack_top"], struct.pack("<Q", top))

    def on_change(self, event):
        """Warns the user who has changed memory or a register."""
        if self.session.core is None or self.told or stepping.internal:
            return
        self.told = True
        if self.saved is None:
            gdb.write("reweave: memory was changed; if the replay continues, it may differ from the recording (`run` restarts "
                      "it)\n")
        else:
            gdb.write("reweave: the change lasts until the program continues; then it does again what it did when it "
                      "was recorded\n")

    def before_registers(self):
        """Call this before the user may change registers."""
        if self.registers is None and stepping.alive():
            self.registers = (gdb.selected_thread(), read_registers())


def read_registers():
    frame = gdb.newest_frame()
    return {register.name: int(frame.read_register(register))
            for register in frame.architecture().registers("general") if register.name not in ("fs_base", "gs_base")}


def write_registers(thread, values):
    """Writes the registers that differ."""
    if not thread.is_valid():
        return
    current = gdb.selected_thread()
    thread.switch()
    gdb.newest_frame().select()
    for name, value in values.items():
        if int(gdb.newest_frame().read_register(name)) != value:
            gdb.execute("set var $%s = %d" % (name, value), to_string=True)
            gdb.newest_frame().select()
    current.switch()
