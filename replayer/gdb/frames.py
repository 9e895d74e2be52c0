"""Hides the runtime's own frames: the user sees the program's.

A thread that does not run waits inside the runtime, entered by a signal or a call from the program. gdb unwinds
through it with the runtime's own unwind tables; here those frames, all at addresses of the runtime, are left out.
"""

import functools
import os

import gdb
from gdb.FrameDecorator import FrameDecorator

import stepping

MOST_FRAMES = 64  # that are looked at for one of the runtime's


@functools.lru_cache(maxsize=None)
def is_own_library(path):
    """True for the runtime's libraries in the program, one of which stands in for another (stand_in.py)."""
    return os.path.basename(os.path.realpath(path or "")).startswith("libreweave")


def is_inner(frame):
    """True for functions of those libraries that are none of the C library's that they stand in for: they have no names."""
    name = frame.name()
    return (name is None or name.startswith("reweave::")) and is_own_library(gdb.solib_name(frame.pc()))


def is_access(frame):
    """True for what an instrumented program calls in the place of an instruction, such as an atomic one."""
    return (frame.name() or "").startswith("__tsan_") and is_own_library(gdb.solib_name(frame.pc()))


class ProgramFrame(FrameDecorator):
    """Shown as gdb shows a frame when there is no filter."""

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
        self.priority = 1000  # before filters that look at the program's frames
        self.wanted = True
        self.is_ours = is_ours
        gdb.frame_filters[self.name] = self

    @property
    def enabled(self):
        """Only where there are such frames: gdb writes some things in another way when there is a filter. Each thread but the
        first is begun by the runtime."""
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
    """Selects it if the thread is in the runtime. True if so."""
    if not is_ours(gdb.newest_frame()):
        return False
    frame = program_frame(is_ours)
    if frame is not None:
        frame.select()
    return frame is not None


class StopHook:
    """Selects the program's frame before gdb shows a stop, so that gdb shows that frame, not the runtime's.

    gdb runs hook-stop before it prints the location, and Python's stop events after it. A hook-stop of the user's takes
    the place of this one."""

    def __init__(self, is_ours):
        self.is_ours = is_ours
        self.selected = False  # at this stop
        gdb.reweave_stop_hook = self.run  # where the hook's text can reach it
        try:
            gdb.execute("show user hook-stop", to_string=True)
        except gdb.error:  # there is none
            gdb.execute("define hook-stop\npython gdb.reweave_stop_hook()\nend", to_string=True)

    def run(self):
        self.selected = stepping.alive() and select_program_frame(self.is_ours)

    def take_selected(self):
        """Whether gdb has shown this stop with the program's frame."""
        selected, self.selected = self.selected, False
        return selected


def without_level(text):
    """What gdb prints of a frame, without the number."""
    return text.split(None, 1)[1] if text.startswith("#") else text


def stop_text(is_ours):
    """The program's frame as gdb shows it at a stop. To be called before the thread counts as stopped: later, gdb.execute
    executes the commands of the user's breakpoint first. `frame` is silent before."""
    newest = gdb.newest_frame()
    select_program_frame(is_ours)
    frame = gdb.selected_frame()
    text = without_level(gdb.execute("frame apply level %d echo" % frame.level(), to_string=True))
    if frame.find_sal().symtab is not None:
        lines = gdb.parameter("listsize") or "unlimited"
        gdb.execute("set listsize 1", to_string=True)
        listed = gdb.execute("list *%#x" % frame.find_sal().pc, to_string=True)
        gdb.execute("set listsize %s" % lines, to_string=True)
        text += listed.split("\n", 1)[1]  # behind the address
    newest.select()
    return text


def describe_frame(frame):
    """The frame as gdb prints it, without number and source line."""
    frame.select()
    return without_level(gdb.execute("frame", to_string=True).split("\n")[0])
