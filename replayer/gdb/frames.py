"""Hides the runtime's own frames: the user sees the program's.

A thread that does not run waits inside the runtime, entered by a signal or a call from the program. gdb unwinds
through it with the runtime's own unwind tables; here those frames, all at addresses of the runtime, are left out.
"""

import gdb


class ProgramFrames:
    """Frame filter for `backtrace`: leaves the runtime's frames out."""

    def __init__(self, is_ours):
        self.name = "reweave"
        self.priority = 1000  # before filters that look at the program's frames
        self.enabled = True
        self.is_ours = is_ours
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        return (frame for frame in frames if not self.is_ours(frame.inferior_frame()))


def program_frame(is_ours):
    """The innermost frame of the program in the selected thread, or None if it has none yet."""
    frame = gdb.newest_frame()
    while frame is not None and frame.is_valid():
        if not is_ours(frame):
            return frame
        frame = frame.older()
    return None


def describe_frame(frame):
    """The frame as gdb prints it, without number and source line."""
    frame.select()
    text = gdb.execute("frame", to_string=True).split("\n")[0]
    return text.split(None, 1)[1] if text.startswith("#") else text
