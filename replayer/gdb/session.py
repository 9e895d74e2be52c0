"""One replay under gdb: starts it, attaches, and lands at the wanted event.

The replay is fed by a helper process, `reweave replay --hold-fd`, which answers with one line of JSON once the target
waits at the event (replayer/hold_command.h). The helper, and with it the replay, ends when its input is closed.
"""

import contextlib
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile

import gdb

import counting
import faults
import frames
import moment
import own_symbols
import stepping
import stops
from core_memory import CoreMemory
from excursion import Excursion
from stand_in import StandIn

SETTINGS = (
    "set confirm off",
    "set exec-file-mismatch off",
    "set unwindonsignal on",  # a function called by gdb that cannot continue raises SIGTRAP (stops.py)
    "handle SIGSYS nostop noprint pass",  # each system call raises SIGSYS
    "skip -gfi */recorder/shim/*",  # `step` passes over the replacements of pthread_mutex_lock and the like
)


REMOTE_SETTINGS = (
    "set remotetimeout 100000",  # a step back may be a long replay
    "set sysroot /",
)

EXIT_SYSTEM = 4  # formats/base/exit_status.h


class NoReplay(gdb.GdbError):
    """There is nothing to debug; `status` is the exit status to use."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


class Session:
    """The replay that gdb is attached to."""

    def __init__(self, program, recording, pid, quiet):
        self.command = [program, "replay", recording] + (["-p", pid] if pid else []) + (["--quiet"] if quiet else [])
        self.helper = None
        self.place = None  # the helper's announcement
        self.core = None
        self.stops = []  # our own breakpoints
        self.new_thread = None
        self.stand_in = StandIn()
        self.socket = Socket()
        self.step_stops = []  # breakpoints for one step only
        self.announcement = None  # text for the next stop, if gdb does not know its cause
        self.end_text = ""  # the runtime's message when it ended the run
        self.adopted = 0  # the event at which the last new program was entered
        self.enabled = set()  # the user's breakpoints enabled when the program last continued
        self.counting = counting.Counting()
        self.running = False  # True after a command of the user moved the program, until it stops
        self.excursion = Excursion(self)
        self.last_event = 0  # at the last stop
        stepping.remote = bool(os.environ.get("REWEAVE_GDB_BACKWARD"))
        if stepping.remote:
            for setting in REMOTE_SETTINGS:
                gdb.execute(setting, to_string=True)
        for setting in SETTINGS:
            gdb.execute(setting, to_string=True)
        gdb.events.stop.connect(self.on_stop)
        gdb.events.gdb_exiting.connect(self.on_exit)
        gdb.events.breakpoint_created.connect(self.spare_ours)
        gdb.events.breakpoint_modified.connect(self.spare_ours)
        for change in (gdb.events.breakpoint_created, gdb.events.breakpoint_modified, gdb.events.breakpoint_deleted):
            change.connect(self.on_breakpoint)
        frames.ProgramFrames(self.is_ours)
        self.stop_hook = frames.StopHook(self.is_ours)

    def is_core(self, pc):
        return self.core is not None and self.core.in_core(int(pc))

    def is_ours(self, frame):
        """True for frames of the runtime: the core's, and the inner ones of the preloaded library."""
        return self.is_core(frame.pc()) or frames.is_inner(frame)

    def spare_ours(self, breakpoint):
        """Disables locations of the user's breakpoints in the runtime, whose functions may have the same names as
        the program's."""
        if not breakpoint.visible or getattr(breakpoint, "in_runtime", False) or "reweave::" in (breakpoint.location or ""):
            return
        for location in getattr(breakpoint, "locations", ()):  # from gdb 13 on
            ours = self.is_core(location.address) or (location.function or "").startswith("reweave::")
            if ours and location.enabled:
                location.enabled = False

    def on_breakpoint(self, breakpoint):
        if breakpoint.visible and self.new_thread is not None and self.new_thread.is_valid():
            self.new_thread.follow_watchpoints()

    def on_exit(self, event):
        self.end()
        self.stand_in.end()
        self.socket.end()

    def goto(self, where):
        """Starts the replay (again), stops at `where` and shows the place."""
        self.restart(where)
        self.arrive()

    def arrive(self):
        """Shows the place that the user asked for."""
        self.show()
        if self.place["at_end"] and stepping.alive():
            moment.select_users_frame(self)

    def position(self):
        """The name of this instant."""
        return gdb.execute("monitor position", to_string=True).strip()

    def back(self, events):
        """Goes to the last instant, at least `events` before this one, at which the program runs."""
        here = self.last_event
        distance = events
        while True:
            self.restart(str(max(here - distance, 1)))
            if self.core.event() < here or distance >= here:
                break
            distance *= 2  # the runtime takes several events at once here
        self.show()

    def restart(self, where, quiet=False):
        self.excursion.forget()
        self.counting.forget()
        self.adopted = 0
        self.end_text = ""
        self.end()
        self.place = self.hold(where, quiet)
        self.core = CoreMemory(self.place["memory"])
        with stepping.silence():
            self.attach()
            self.counting.show_code(self.core.memory)
        self.land()

    def hold(self, where, quiet):
        reader, writer = os.pipe()
        stub = self.socket.listen() if stepping.remote else ()
        output = os.environ.get("REWEAVE_GDB_OUTPUT")  # gdb's own standard output is MI then
        # Start it in a session of its own, because the terminal's interrupt is for gdb.
        silent = ["--quiet"] if quiet and "--quiet" not in self.command else []
        self.helper = subprocess.Popen(self.command + silent + ["-g", where, "--hold-fd", str(writer)] +
                                       [word for fd in stub for word in ("--serve-gdb", str(fd))], stdin=subprocess.PIPE,
                                       stdout=int(output) if output else None, pass_fds=(writer, *stub), start_new_session=True)
        for fd in (writer, *stub):
            os.close(fd)
        with os.fdopen(reader) as answer:
            line = answer.readline()
        if not line:
            status = self.helper.wait()
            self.helper = None
            raise NoReplay("reweave: the replay did not reach event %s" % where, status)
        return json.loads(line)

    def attach(self):
        self.stand_in.install(self.place)
        gdb.execute("file %s" % quoted(self.stand_in.program(self.place["program"])), to_string=True)
        try:
            with stepping.internally():
                if stepping.remote:
                    gdb.execute("target remote " + self.socket.path, to_string=True)
                else:
                    gdb.execute("attach %d" % self.place["pid"], to_string=True)
        except gdb.error as error:
            self.end()
            raise NoReplay(explain_attach(str(error)), EXIT_SYSTEM)
        stepping.restore_parameters()
        self.set_arguments()
        self.add_own_symbols()
        faults.be_quiet()
        for stop in self.stops:
            stop.delete()
        self.new_thread = stops.NewThread(stepping.symbol_address("core_sigreturn"))
        self.stops = [stops.StopOfRun(stepping.symbol_address("core_note_stop"), self),
                      stops.NewProgram(stepping.symbol_address("core_enter_program"), self), self.new_thread,
                      stops.GivenUpCall(stepping.symbol_address("core_give_up_call")),
                      faults.EndOfProcess(stepping.symbol_address("core_note_end"))]
        if not stepping.remote and gdb.parameter("can-use-hw-watchpoints") != 0:  # 0: no hardware for it
            self.stops.append(stops.EndOfVfork(stepping.symbol_address("core_note_vforked")))

    def set_arguments(self):
        """Makes `show args` show the program's own arguments."""
        with open("/proc/%d/cmdline" % stepping.real_pid(), "rb") as line:
            words = line.read().decode(errors="surrogateescape").split("\0")[1:-1]
        text = " ".join(map(shlex.quote, words)).replace("\n", "'$'\\n''")  # gdb would take a line for a command
        gdb.execute("set args " + text, to_string=True)

    def add_own_symbols(self):
        stepping.own_symbols = own_symbols.add_core(self.place["core"])
        own_symbols.add_stubs(self.place["stubs"], self.core.slot(gdb.selected_inferior().pid))

    def land(self):
        """Lets the target, which waits inside the runtime, continue to the place where the user wants to look."""
        if self.place["at_end"] and self.place["ending"] == "rests":
            return  # the process does not run again
        if not stepping.remote:
            self.helper.stdin.write(b"g")
            self.helper.stdin.flush()
        if stepping.remote and not self.place["at_end"]:
            return  # the stub has done it
        if not self.place["at_end"]:
            with stepping.silence():
                stepping.run_to_program(self.is_core)
        elif self.place["ending"] != "exits":
            gdb.execute("continue")

    def show(self):
        if stepping.alive():
            self.on_stop(None)
            gdb.execute("when")
            gdb.execute("frame")
            moment.list_program_next()
        else:
            gdb.write("reweave: the process ends at this event, before its program continues; `reweave goto` an "
                      "earlier one, or choose another process with -p (`reweave ps` lists them)\n")

    def on_stop(self, event):
        self.running = False
        is_shown = self.stop_hook.take_selected()
        for stop in self.step_stops:
            stop.delete()
        self.step_stops = []
        if self.core is None or not stepping.alive() or self.is_in_bare_runtime():
            return
        if stepping.remote:
            stepping.tell_stub("stop-seen")
        self.last_event = self.core.event()
        self.counting.show_code(self.core.memory)
        self.name_threads()
        in_runtime = self.is_ours(gdb.newest_frame())
        self.show_program_frame()
        if self.announcement or (in_runtime and isinstance(event, gdb.SignalEvent) and not is_shown):
            self.show_stop()

    def is_in_bare_runtime(self):
        """True right after the kernel has executed the runtime for a new program, before it has mapped its state."""
        try:
            self.core.event()
            return False
        except gdb.MemoryError:
            return True

    def announce(self, text):
        """Announces the coming stop with this text and the program's frame. To be called by the `stop` of a
        breakpoint."""
        self.announcement = "\n%s, %s" % (text, frames.stop_text(self.is_ours))

    def announce_place(self, text):
        """Announces the coming stop with this text only, when the program has no frame yet."""
        self.announcement = "\n%s\n" % text

    def show_stop(self):
        text, self.announcement = self.announcement, None
        if text is None:
            gdb.execute("frame")
        else:
            gdb.write(text)

    def call_name(self, number):
        calls = self.place["calls"]
        return calls[number] if 0 <= number < len(calls) else str(number)

    def show_program_frame(self):
        """Selects the innermost frame of the program."""
        frames.select_program_frame(self.is_ours)

    def adopt_program(self):
        """Gives gdb the symbols of a new program, once, and returns its path. To be called by the `stop` of a
        breakpoint where the runtime enters it."""
        program = self.core.program(gdb.selected_inferior().pid)
        if self.adopted != self.core.event():
            self.adopted = self.core.event()
            gdb.execute("file %s" % quoted(self.stand_in.program(program)), to_string=True)
            self.add_own_symbols()
            for breakpoint in gdb.breakpoints():
                if breakpoint.number in self.enabled:  # gdb disabled it, not finding its place in the runtime
                    breakpoint.enabled = True
            gdb.write("process %d is executing new program: %s\n" % (gdb.selected_inferior().pid, program))
        return program

    def before_going_on(self, steps=True, anywhere=True):
        """Call this before any command that lets the program continue."""
        self.excursion.end()
        self.running = True
        self.end_text = ""
        self.enabled = {breakpoint.number for breakpoint in gdb.breakpoints() if breakpoint.enabled}
        if self.core is not None and stepping.alive():
            self.counting.hurry(steps, anywhere)

    def before_going_back(self):
        """Call this before any command that goes backward."""
        if self.core is not None and not stepping.alive():
            self.restart("end", quiet=True)
        for breakpoint in gdb.breakpoints():
            if breakpoint.type == gdb.BP_WATCHPOINT and breakpoint.enabled:
                gdb.write("reweave: with watchpoint %d gdb steps back by single instructions, and each step is a "
                          "replay: this may take very long; Ctrl-C ends it\n" % breakpoint.number)
        self.excursion.end()
        self.running = True
        self.end_text = ""

    def before_step_back(self, within_runtime=False):
        """Call this before a step backward, when gdb already goes backward. Moves a thread that waits inside the
        runtime back to the program first, unless it may step from there."""
        self.before_going_back()
        if self.core is None:
            return
        thread = gdb.selected_thread()
        with stepping.internally(), stepping.silence():
            if self.is_ours(gdb.newest_frame()) and not within_runtime:
                gdb.execute("stepi", to_string=True)
            while not within_runtime and gdb.selected_thread() == thread and self.is_in_own_library(gdb.newest_frame()):
                gdb.execute("finish", to_string=True)
        self.counting.hurry(True, False)
        self.step_stops = stepping.stops_after_clock_reads()

    def is_in_own_library(self, frame):
        """True for frames of any part of the runtime: its core, or its replacements of other libraries' functions."""
        return self.is_ours(frame) or frames.is_own_library(gdb.solib_name(frame.pc()))

    def before_step(self, anywhere):
        """Call this before a step: if the thread waits inside the runtime, lets it return to the program first."""
        if self.core is None or not stepping.alive():
            return
        if self.is_ours(gdb.newest_frame()):
            frame = frames.program_frame(self.is_ours)
            while frame is not None and frame.type() == gdb.SIGTRAMP_FRAME:  # a handler of the program's is about to return
                frame = frame.older()
            if frame is not None:
                stepping.leave_runtime(frame)
                self.counting.hurry(True, anywhere)
        self.step_stops = stepping.stops_after_clock_reads()

    def name_threads(self):
        """`info threads` names threads as `reweave dump` does, with the ids that the program saw."""
        known = {self.core.lwp(thread): thread for thread in self.core.threads()}
        for thread in gdb.selected_inferior().threads():
            of_core = known.get(thread.ptid[1])
            if of_core is not None:
                thread.name = "t%d tid %d" % (of_core.index, of_core.tid)

    def end(self):
        """Ends the replay, quietly."""
        if self.helper is None:
            return
        if gdb.selected_inferior().pid != 0:
            if not stepping.remote:
                os.kill(gdb.selected_inferior().pid, signal.SIGKILL)  # first: nothing more of it should run
            with contextlib.suppress(gdb.error):  # gdb itself ends while the process runs
                gdb.execute("kill", to_string=True)
        self.helper.stdin.close()
        self.helper.wait()
        self.helper = None


class Socket:
    """The socket at which the stub waits for gdb, in a folder that no other user may enter."""

    def __init__(self):
        self.folder = None
        self.path = None

    def listen(self):
        """Creates the socket. Returns a tuple with the descriptor for the stub."""
        if self.folder is None:
            self.folder = tempfile.mkdtemp(prefix="reweave-gdb-")
            self.path = os.path.join(self.folder, "stub")
        if os.path.exists(self.path):
            os.remove(self.path)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path)
            listener.listen(1)
            return (listener.detach(),)

    def end(self):
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None


def quoted(path):
    return '"%s"' % path.replace("\\", "\\\\").replace('"', '\\"')


def explain_attach(error):
    if "not permitted" in error or "Operation" in error:
        return ("reweave: gdb may not attach to the replay: %s\n"
                "In a container, allow ptrace (docker run --cap-add=SYS_PTRACE); elsewhere see "
                "/proc/sys/kernel/yama/ptrace_scope, which must be 0 or 1" % error)
    return "reweave: gdb cannot attach to the replay: %s" % error
