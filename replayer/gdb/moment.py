"""Goes to the moment that `explain --save` found: right after an operation of one thread, after which the run was
bound to fail. Also goes to the frame that matters at the end of a run."""

import os
import re

import gdb

import frames
import stepping

# Folders of library sources, from formats/elf/library_code.h.
LIBRARIES = tuple(folder for folder in os.environ.get("REWEAVE_GDB_LIBRARIES", "").split(":") if folder)
# Folders of installed libraries, also below a folder of stand_in.py.
INSTALLED = re.compile(r"(.*/reweave-gdb-[^/]+/root)?(/usr(/local)?)?/lib")

LINES_BEFORE = 6  # `list` continues after the last line listed, so this centres main in its output


class Behind(gdb.Breakpoint):
    """Stops when a thread has executed the operation that returns to `address` for the number-th time."""

    def __init__(self, address, thread, number, session):
        super().__init__("*%#x" % address, internal=True)
        self.silent = True
        self.session, self.wanted, self.left = session, thread, number
        self.reached = False

    def stop(self):
        running = {self.session.core.lwp(thread): thread.index for thread in self.session.core.threads()}
        if running.get(gdb.selected_thread().ptid[1]) != self.wanted:
            return False
        self.left -= 1
        self.reached = self.left == 0
        return self.reached


def go(session, moment):
    """`moment` is thread, address and number, separated by colons. Explored runs begin at main, so the count starts
    there."""
    thread, address, number = (int(part, 0) for part in moment.split(":"))
    session.restart("1")
    start = gdb.Breakpoint("main", internal=True)
    start.silent = True
    with stepping.silence():
        gdb.execute("continue", to_string=True)
    start.delete()
    behind = Behind(address, thread, number, session)
    try:
        with stepping.silence():
            gdb.execute("continue", to_string=True)
        if not behind.reached:
            raise gdb.GdbError("reweave: this run does not reach the saved moment")
    finally:
        if behind.is_valid():
            behind.delete()
    gdb.write("From here on every run fails, as `reweave explain` found.\n")
    session.show()
    select_users_frame(session)


def is_users(frame):
    library = gdb.solib_name(frame.pc()) or ""
    if INSTALLED.match(library) or frames.is_own_library(library):  # the C library's sources have relative names
        return False
    found = frame.find_sal().symtab
    return found is not None and not found.fullname().startswith(LIBRARIES)


def select_users_frame(session):
    """Selects and shows the innermost frame of the user's own code, unless gdb has shown it already."""
    frame = first = frames.program_frame(session.is_ours)
    while frame is not None and (session.is_ours(frame) or not is_users(frame)):
        frame = frame.older()
    if frame is None or frame == first:
        return
    frame.select()
    gdb.execute("frame")


def list_program_next():
    """In the loader, whose code nobody lists, makes `list` and `break 12` refer to the file that has main, as gdb
    does before a program is started."""
    if not os.path.basename(gdb.solib_name(gdb.selected_frame().pc()) or "").startswith("ld-"):
        return
    try:
        main = gdb.decode_line("main")[1][0]
        before = max(main.line - LINES_BEFORE, 1)
        gdb.execute("list '%s':%d,%d" % (main.symtab.fullname(), before, before), to_string=True)
    except (gdb.error, TypeError, AttributeError):  # there is no main, or no lines
        pass
