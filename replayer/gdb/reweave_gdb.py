"""Entry point of gdb's side of `reweave replay -g`; replayer/debugger.cc starts gdb with it.

Needs gdb 12 or later with Python. Where things are: session.py starts replays and attaches, frames.py hides the
runtime's frames, stepping.py leaves the runtime, commands.py has the user's commands, hooks.py what replaces or
surrounds gdb's own, excursion.py takes back what the user changes, core_memory.py reads the runtime's state.
"""

import os
import sys

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import commands  # noqa: E402
import hooks  # noqa: E402
import stops  # noqa: E402
from session import NoReplay, Session  # noqa: E402


def main():
    session = Session(os.environ["REWEAVE_GDB_PROGRAM"], os.environ["REWEAVE_GDB_RECORDING"],
                      os.environ["REWEAVE_GDB_PID"], bool(os.environ["REWEAVE_GDB_QUIET"]))
    stops.hide_own_breakpoints()
    commands.define(session)
    hooks.define(session)
    try:
        session.goto(os.environ["REWEAVE_GDB_EVENT"])
    except NoReplay as error:
        sys.stderr.write("%s\n" % error)
        gdb.execute("quit %d" % error.status)


main()
