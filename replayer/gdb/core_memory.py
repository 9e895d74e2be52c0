"""The runtime's state in the memory of a replayed process.

Reads it at the addresses that `reweave replay` announced, not by symbols. So it works in any language of gdb, and
whether or not the runtime has debug information.
"""

import struct

import gdb

import stepping

STATES = ("unused", "ready", "running", "blocked", "in the kernel", "exited")
WAITS = ("", "futex", "mutex", "rwlock", "spin lock", "condition variable", "semaphore", "vforked child",
         "clock", "futexes", "tracer")


class Thread:
    """One thread of the replay, as the runtime knows it."""

    def __init__(self, index, memory, data):
        def field(name, code):
            return struct.unpack_from(code, data, memory["thread_" + name])[0]

        self.index = index
        self.state = STATES[field("state", "<I")]
        self.process = field("process", "<H")
        self.tid = field("tid", "<i")
        self.real_tid = field("real_tid", "<i")
        self.wait_kind = WAITS[field("wait_kind", "<I")]
        self.wait_address = field("wait_address", "<Q")
        self.wait_owner = field("wait_owner", "<i")


class CoreMemory:
    """Reads the arena of the selected process."""

    def __init__(self, memory):
        self.memory = memory

    def _word(self, name, code):
        data = gdb.selected_inferior().read_memory(self.memory[name], struct.calcsize(code))
        return struct.unpack(code, data.tobytes())[0]

    def event(self):
        return self._word("event", "<Q")

    def step(self):
        return self._word("step", "<Q")

    def holder(self):
        """Index of the thread that runs, or None."""
        word = self._word("holder", "<I")
        return word - 1 if word else None

    def threads(self):
        """All threads of the tree that were started so far, by index."""
        size = self.memory["thread_bytes"]
        for index in range(self._word("thread_count", "<I")):
            data = gdb.selected_inferior().read_memory(self.memory["threads"] + index * size, size)
            yield Thread(index, self.memory, data.tobytes())

    def thread_address(self, lwp):
        """The address of the runtime's Thread for a thread of gdb, or None."""
        for thread in self.threads():
            if self.lwp(thread) == lwp and thread.state not in ("unused", "exited"):
                return self.memory["threads"] + thread.index * self.memory["thread_bytes"]
        return None

    @staticmethod
    def lwp(thread):
        """The id by which gdb knows the thread."""
        return thread.tid if stepping.remote else thread.real_tid

    def _process_field(self, pid, name, size):
        """Bytes of a field of the process `pid` (gdb's id), or None."""
        memory, read = self.memory, gdb.selected_inferior().read_memory
        for index in range(self._word("process_count", "<I")):
            base = memory["processes"] + index * memory["process_bytes"]
            real = read(base + memory["process_pid" if stepping.remote else "process_real_pid"], 4)
            if struct.unpack("<i", real.tobytes())[0] == pid:
                return read(base + memory["process_" + name], size).tobytes()
        return None

    def program(self, pid):
        """The program that the process `pid` (gdb's id) executes, or None."""
        name = self._process_field(pid, "program", 512)
        return name and name.split(b"\0")[0].decode()

    def slot(self, pid):
        """The slot of that program (kProgramSlots in recorder/arena.h); 0 if there is no such process."""
        slot = self._process_field(pid, "slot", 4)
        return struct.unpack("<I", slot)[0] if slot else 0

    def in_core(self, pc):
        return self.memory["core_start"] <= pc < self.memory["core_end"]
