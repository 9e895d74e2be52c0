"""Hides the runtime's own frames, so that the user sees the program's.

A thread that does not run waits inside the runtime, which it entered by a signal or a call from the program. gdb
unwinds through the runtime with the runtime's own unwind tables. The frames at addresses of the runtime are left out
here.
"""

import functools
import os

import gdb
from gdb.FrameDecorator import FrameDecorator

import stepping

MOST_FRAMES = 64  # frames examined to find one of the runtime's


@functools.lru_cache(maxsize=None)
def is_own_library(path):
    """True for the runtime's libraries in the program, one of which replaces another library (stand_in.py)."""
    return os.path.basename(os.path.realpath(path or "")).startswith("libreweave")


def is_inner(frame):
    """True for the internal functions of the runtime's libraries, which have no names. False for their functions that
    replace functions of the C library."""
    name = frame.name()
    return (name is None or name.startswith("reweave::")) and is_own_library(gdb.solib_name(frame.pc()))


def is_access(frame):
    """True for functions that an instrumented program calls instead of executing an instruction, such as an atomic
    one."""
    return (frame.name() or "").startswith("__tsan_") and is_own_library(gdb.solib_name(frame.pc()))


class ProgramFrame(FrameDecorator):
    """Shows a frame exactly as gdb shows it without a filter."""

    def function(self):
        frame = self.inferior_frame()
        return frame.name() or super().function() if frame.type() == gdb.NORMAL_FRAME else super().function()

    def address(self):
        return None if self.inferior_frame().type() == gdb.SIGTRAMP_FRAME else super().address()

    def filename(self):
        return None if self.inferior_frame().type() == gdb.SIGTRAMP_FRAME else super().filename()


class ProgramFrames:
    """Frame filter for `backtrace`: leaves the runtime's frames out."""

    def __init__(self, is_ours):
        self.name = "reweave"
        self.priority = 1000  # runs before filters for the program's frames
        self.wanted = True
        self.is_ours = is_ours
        gdb.frame_filters[self.name] = self

    @property
    def enabled(self):
        """True only if the selected thread has frames of the runtime, because any filter slightly changes gdb's output.
        Every thread except the first has them: the runtime started it."""
        if not self.wanted or gdb.selected_thread() is None:
            return False
        if gdb.selected_thread().num != 1:
            return True
        frame = gdb.newest_frame()
        for _ in range(MOST_FRAMES):
            if frame is None or self.is_ours(frame):
                break
            frame = frame.older()
        return frame is not None and self.is_ours(frame)

    @enabled.setter
    def enabled(self, wanted):
        self.wanted = wanted

    def filter(self, frames):
        return (ProgramFrame(frame) for frame in frames if not self.is_ours(frame.inferior_frame()))


def program_frame(is_ours):
    """The innermost frame of the program in the selected thread, or None if it has none yet."""
    frame = gdb.newest_frame()
    while frame is not None and frame.is_valid():
        if not is_ours(frame):
            return frame
        frame = frame.older()
    return None


def select_program_frame(is_ours):
    """Selects the program's innermost frame if the thread is in the runtime. Returns whether it did."""
    if not is_ours(gdb.newest_frame()):
        return False
    frame = program_frame(is_ours)
    if frame is not None:
        frame.select()
    return frame is not None


class StopHook:
    """Selects the program's frame before gdb shows a stop, so that gdb shows that frame, not the runtime's.

    gdb runs hook-stop before it prints the location, and Python's stop events after it. A hook-stop that the user
    defines replaces this one."""

    def __init__(self, is_ours):
        self.is_ours = is_ours
        self.selected = False  # at this stop
        gdb.reweave_stop_hook = self.run  # reachable from the hook's text
        try:
            gdb.execute("show user hook-stop", to_string=True)
        except gdb.error:  # there is none
            gdb.execute("define hook-stop\npython gdb.reweave_stop_hook()\nend", to_string=True)

    def run(self):
        self.selected = stepping.alive() and select_program_frame(self.is_ours)

    def take_selected(self):
        """Returns whether gdb has shown this stop with the program's frame."""
        selected, self.selected = self.selected, False
        return selected


def without_level(text):
    """gdb's description of a frame, without the number."""
    return text.split(None, 1)[1] if text.startswith("#") else text


def stop_text(is_ours):
    """Returns the program's frame as gdb prints it at a stop. Call this before gdb marks the thread as stopped:
    afterwards gdb.execute would first run the commands of the user's breakpoint. Until then `frame` prints nothing, so
    this uses `frame apply`."""
    newest = gdb.newest_frame()
    select_program_frame(is_ours)
    frame = gdb.selected_frame()
    text = without_level(gdb.execute("frame apply level %d echo" % frame.level(), to_string=True))
    if frame.find_sal().symtab is not None:
        lines = gdb.parameter("listsize") or "unlimited"
        gdb.execute("set listsize 1", to_string=True)
        listed = gdb.execute("list *%#x" % frame.find_sal().pc, to_string=True)
        gdb.execute("set listsize %s" % lines, to_string=True)
        text += listed.split("\n", 1)[1]  # the line after the one with the address
    newest.select()
    return text


def describe_frame(frame):
    """The frame as gdb prints it, without number and source line."""
    frame.select()
    return without_level(gdb.execute("frame", to_string=True).split("\n")[0])
