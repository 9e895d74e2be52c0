"""One replay under gdb: starts it, attaches, and lands at the wanted event.

The replay is fed by a helper process, `reweave replay --hold-fd`, which answers with one line of JSON once the target
waits at the event (replayer/hold_command.h). The helper, and with it the replay, ends when its input is closed.
"""

import json
import os
import signal
import subprocess

import gdb

import counting
import faults
import frames
import own_symbols
import stepping
import stops
from core_memory import CoreMemory
from excursion import Excursion
from stand_in import StandIn

SETTINGS = (
    "set confirm off",
    "set exec-file-mismatch off",
    "set unwindonsignal on",  # functions that gdb calls and that cannot go on raise SIGTRAP (stops.py)
    "handle SIGSYS nostop noprint pass",  # each system call raises one
    "skip -gfi */recorder/shim/*",  # `step` passes over what stands in for pthread_mutex_lock and the like
)


EXIT_SYSTEM = 4  # formats/exit_status.h


class NoReplay(gdb.GdbError):
    """There is nothing to debug; `status` is what to exit with."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


class Session:
    """The replay that gdb is attached to."""

    def __init__(self, program, recording, pid, quiet):
        self.command = [program, "replay", recording] + (["-p", pid] if pid else []) + (["--quiet"] if quiet else [])
        self.helper = None
        self.place = None  # what the helper announced
        self.core = None
        self.stops = []  # our own breakpoints
        self.new_program = None
        self.new_thread = None
        self.stand_in = StandIn()
        self.step_stops = []  # breakpoints for one step only
        self.announcement = None  # what the next stop is, if gdb does not know it
        self.counting = counting.Counting()
        self.running = False  # since a command of the user's
        self.excursion = Excursion(self)
        self.last_event = 0  # at the last stop
        for setting in SETTINGS:
            gdb.execute(setting, to_string=True)
        gdb.events.stop.connect(self.on_stop)
        gdb.events.gdb_exiting.connect(self.on_exit)
        gdb.events.breakpoint_created.connect(self.spare_ours)
        gdb.events.breakpoint_modified.connect(self.spare_ours)
        for change in (gdb.events.breakpoint_created, gdb.events.breakpoint_modified, gdb.events.breakpoint_deleted):
            change.connect(self.on_breakpoint)
        frames.ProgramFrames(self.is_ours)

    def is_core(self, pc):
        return self.core is not None and self.core.in_core(int(pc))

    def is_ours(self, frame):
        """True for frames of the runtime: the core's, and the inner ones of the preloaded library."""
        return self.is_core(frame.pc()) or (frame.name() or "").startswith("reweave::shim::")

    def spare_ours(self, breakpoint):
        """A function of the program may be called like one of the runtime's, where nobody wants to stop."""
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

    def goto(self, where):
        """Starts the replay (again), stops at `where` and shows the place."""
        self.restart(where)
        self.show()

    def back(self, events):
        """Goes to the last place at which the program runs that is at least `events` before this one."""
        here = self.last_event
        distance = events
        while True:
            self.restart(str(max(here - distance, 1)))
            if self.core.event() < here or distance >= here:
                break
            distance *= 2  # the runtime had taken several events at once
        self.show()

    def restart(self, where):
        self.excursion.forget()
        self.counting.forget()
        self.end()
        self.place = self.hold(where)
        self.core = CoreMemory(self.place["memory"])
        with stepping.silence():
            self.attach()
            self.counting.show_code(self.core.memory)
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
            status = self.helper.wait()
            self.helper = None
            raise NoReplay("reweave: the replay did not reach event %s" % where, status)
        return json.loads(line)

    def attach(self):
        self.stand_in.install(self.place)
        gdb.execute("file %s" % quoted(self.stand_in.program(self.place["program"])), to_string=True)
        try:
            with stepping.internally():
                gdb.execute("attach %d" % self.place["pid"], to_string=True)
        except gdb.error as error:
            self.end()
            raise NoReplay(explain_attach(str(error)), EXIT_SYSTEM)
        stepping.restore_parameters()
        self.add_own_symbols()
        faults.be_quiet()
        for stop in self.stops:
            stop.delete()
        self.new_program = stops.NewProgram(stepping.symbol_address("core_enter_program"))
        self.new_thread = stops.NewThread(stepping.symbol_address("core_sigreturn"))
        self.stops = [stops.StopOfRun(stepping.symbol_address("core_note_stop")), self.new_program, self.new_thread,
                      stops.GivenUpCall(stepping.symbol_address("core_give_up_call")),
                      faults.EndOfProcess(stepping.symbol_address("core_note_end"))]

    def add_own_symbols(self):
        stepping.own_symbols = own_symbols.add_core(self.place["core"])
        own_symbols.add_stubs(self.place["stubs"])

    def land(self):
        """The target waits inside the runtime: lets it come to where the user wants to look."""
        self.helper.stdin.write(b"g")
        self.helper.stdin.flush()
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
        else:
            gdb.write("reweave: the process ends at this event, before its program goes on; `reweave goto` an earlier "
                      "one, or choose another process with -p (`reweave ps` lists them)\n")

    def on_stop(self, event):
        self.running = False
        for stop in self.step_stops:
            stop.delete()
        self.step_stops = []
        if self.core is None or not stepping.alive():
            return
        self.last_event = self.core.event()
        self.counting.show_code(self.core.memory)
        if stepping.newest_pc() == self.new_program.address:
            self.adopt_program()
        self.name_threads()
        in_runtime = self.is_ours(gdb.newest_frame())
        self.show_program_frame()
        if self.announcement or (in_runtime and isinstance(event, gdb.SignalEvent)):
            self.show_stop()

    def announce(self, text):
        """The stop that is about to come is shown as that."""
        self.announcement = text

    def show_stop(self):
        text, self.announcement = self.announcement, None
        gdb.write("\n%s, " % text if text else "")
        gdb.execute("frame")

    def call_name(self, number):
        calls = self.place["calls"]
        return calls[number] if 0 <= number < len(calls) else str(number)

    def show_program_frame(self):
        """Selects the innermost frame of the program."""
        if self.is_ours(gdb.newest_frame()):
            frame = frames.program_frame(self.is_ours)
            if frame is not None:
                frame.select()

    def adopt_program(self):
        program = self.core.program(gdb.selected_inferior().pid)
        gdb.execute("file %s" % quoted(self.stand_in.program(program)), to_string=True)
        self.add_own_symbols()
        gdb.write("reweave: the process now executes %s\n" % program)

    def before_going_on(self, steps=True, anywhere=True):
        """Before any command that lets the program go on."""
        self.excursion.end()
        self.running = True
        if self.core is not None and stepping.alive():
            self.counting.hurry(steps, anywhere)

    def before_step(self, anywhere):
        """If the thread waits inside the runtime, it first has to return to the program."""
        if self.core is None or not stepping.alive():
            return
        if self.is_ours(gdb.newest_frame()):
            frame = frames.program_frame(self.is_ours)
            if frame is not None:
                stepping.leave_runtime(frame)
                self.counting.hurry(True, anywhere)
        self.step_stops = stepping.stops_after_clock_reads()

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
