"""One replay under gdb: starts it, attaches, and lands at the wanted event.

The replay is fed by a helper process, `reweave replay --hold-fd`, which answers with one line of JSON once the target
waits at the event (replayer/hold_command.h). The helper, and with it the replay, ends when its input is closed.
"""

import json
import os
import signal
import subprocess

import gdb

import frames
import stepping
from core_memory import CoreMemory

SETTINGS = (
    "set confirm off",
    "set exec-file-mismatch off",
    "handle SIGSYS nostop noprint pass",  # each system call raises one
)


class StopOfRun(gdb.Breakpoint):
    """Stops where the runtime ends a run by itself: a deadlock, a divergence, the end of a truncated recording."""

    def __init__(self, address):
        super().__init__("*%#x" % address, internal=True)
        self.silent = True

    def stop(self):
        message = gdb.selected_frame().read_register("rsi").cast(gdb.lookup_type("char").pointer())
        gdb.write("reweave: the run ends here: %s\n" % message.string(errors="replace"))
        return True


class Session:
    """The replay that gdb is attached to."""

    def __init__(self, program, recording, quiet):
        self.command = [program, "replay", recording] + (["--quiet"] if quiet else [])
        self.helper = None
        self.place = None  # what the helper announced
        self.core = None
        self.stop_of_run = None
        for setting in SETTINGS:
            gdb.execute(setting, to_string=True)
        gdb.events.stop.connect(self.on_stop)
        gdb.events.gdb_exiting.connect(lambda event: self.end())
        frames.ProgramFrames(self.is_core)

    def is_core(self, pc):
        return self.core is not None and self.core.in_core(int(pc))

    def goto(self, where):
        """Starts the replay (again) and stops at `where`."""
        self.end()
        self.place = self.hold(where)
        self.core = CoreMemory(self.place["memory"])
        with stepping.silence():
            self.attach()
        self.land()

    def hold(self, where):
        reader, writer = os.pipe()
        # In a session of its own: the terminal's interrupt is for gdb.
        self.helper = subprocess.Popen(self.command + ["-g", where, "--hold-fd", str(writer)], stdin=subprocess.PIPE,
                                       pass_fds=(writer,), start_new_session=True)
        os.close(writer)
        with os.fdopen(reader) as answer:
            line = answer.readline()
        if not line:
            self.helper.wait()
            raise gdb.GdbError("reweave: the replay did not reach event %s" % where)
        return json.loads(line)

    def attach(self):
        gdb.execute("file %s" % quoted(self.place["program"]), to_string=True)
        try:
            gdb.execute("attach %d" % self.place["pid"], to_string=True)
        except gdb.error as error:
            self.end()
            raise gdb.GdbError(explain_attach(str(error)))
        gdb.execute("add-symbol-file %s" % quoted(self.place["core"]), to_string=True)
        if self.stop_of_run is not None:
            self.stop_of_run.delete()
        self.stop_of_run = StopOfRun(stepping.symbol_address("core_stop_run"))

    def land(self):
        """The target waits inside the runtime: lets it come to where the user wants to look."""
        self.helper.stdin.write(b"g")
        self.helper.stdin.flush()
        if not self.place["at_end"]:
            with stepping.silence():
                stepping.run_to_program(self.is_core)
        elif self.place["ending"] != "exits":
            gdb.execute("continue")
            return
        if stepping.alive():
            self.name_threads()
            self.show_program_frame()
            gdb.execute("when")
            gdb.execute("frame")

    def on_stop(self, event):
        if self.core is None or not stepping.alive():
            return
        self.name_threads()
        self.show_program_frame()

    def show_program_frame(self):
        """Selects the innermost frame of the program."""
        if self.is_core(stepping.newest_pc()):
            frame = frames.program_frame(self.is_core)
            if frame is not None:
                frame.select()

    def name_threads(self):
        """`info threads` names threads as `reweave dump` does, with the ids that the program saw."""
        known = {thread.real_tid: thread for thread in self.core.threads()}
        for thread in gdb.selected_inferior().threads():
            of_core = known.get(thread.ptid[1])
            if of_core is not None:
                thread.name = "t%d tid %d" % (of_core.index, of_core.tid)

    def end(self):
        """Ends the replay, quietly."""
        if self.helper is None:
            return
        if gdb.selected_inferior().pid != 0:
            os.kill(gdb.selected_inferior().pid, signal.SIGKILL)  # first: nothing more of it should run
            gdb.execute("kill", to_string=True)
        self.helper.stdin.close()
        self.helper.wait()
        self.helper = None


def quoted(path):
    return '"%s"' % path.replace("\\", "\\\\").replace('"', '\\"')


def explain_attach(error):
    if "not permitted" in error or "Operation" in error:
        return ("reweave: gdb may not attach to the replay: %s\n"
                "In a container, allow ptrace (docker run --cap-add=SYS_PTRACE); elsewhere see "
                "/proc/sys/kernel/yama/ptrace_scope, which must be 0 or 1" % error)
    return "reweave: gdb cannot attach to the replay: %s" % error
