"""Hides the runtime's own frames: the user sees the program's.

A thread that does not run waits inside the runtime, entered by a signal or a call from the program. gdb unwinds
through it with the runtime's own unwind tables; here those frames, all at addresses of the runtime, are left out.
"""

import gdb


class ProgramFrames:
    """Frame filter for `backtrace`: leaves the runtime's frames out."""

    def __init__(self, is_core):
        self.name = "reweave"
        self.priority = 1000  # before filters that look at the program's frames
        self.enabled = True
        self.is_core = is_core
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        shown = False
        for frame in frames:
            shown = shown or not self.is_core(frame.inferior_frame().pc())
            if shown:
                yield frame


def program_frame(is_core):
    """The innermost frame of the program in the selected thread, or None if it has none yet."""
    frame = gdb.newest_frame()
    while frame is not None and frame.is_valid():
        if not is_core(frame.pc()):
            return frame
        frame = frame.older()
    return None


def describe_frame(frame):
    """The frame as gdb prints it, without number and source line."""
    frame.select()
    text = gdb.execute("frame", to_string=True).split("\n")[0]
    return text.split(None, 1)[1] if text.startswith("#") else text
