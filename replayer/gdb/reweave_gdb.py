"""Entry point of gdb's side of `reweave replay -g`; replayer/debugger.cc starts gdb with it.

Needs gdb 12 or later with Python. session.py starts replays and attaches; frames.py hides the runtime's frames;
stepping.py leaves the runtime; commands.py has the user's commands; hooks.py replaces or surrounds gdb's own;
history.py answers questions that only a recording can answer (history_commands.py, query.py); excursion.py undoes the
user's changes; core_memory.py reads the runtime's state.
"""

import os
import sys

import gdb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import commands  # noqa: E402
import history_commands  # noqa: E402
import hooks  # noqa: E402
import moment  # noqa: E402
import noted_failure  # noqa: E402
import query  # noqa: E402
import stops  # noqa: E402
from session import NoReplay, Session  # noqa: E402


def begin(session, where):
    session.restart(where)
    exits = where == "end" and session.place["ending"] == "exits"
    if query.wanted() or not exits or not noted_failure.go(session):
        session.arrive()


def main():
    session = Session(os.environ["REWEAVE_GDB_PROGRAM"], os.environ["REWEAVE_GDB_RECORDING"],
                      os.environ["REWEAVE_GDB_PID"], bool(os.environ["REWEAVE_GDB_QUIET"]))
    stops.hide_own_breakpoints()
    commands.define(session)
    history_commands.define(session)
    hooks.define(session)
    try:
        if os.environ.get("REWEAVE_GDB_MOMENT"):
            moment.go(session, os.environ["REWEAVE_GDB_MOMENT"])
        else:
            begin(session, os.environ["REWEAVE_GDB_EVENT"])
    except NoReplay as error:
        if query.wanted():
            query.fail(error, error.status)
        sys.stderr.write("%s\n" % error)
        gdb.execute("quit %d" % error.status)
    except Exception as error:
        if query.wanted():  # gdb would end with 0
            query.fail("internal error: %r" % error, query.EXIT_INTERNAL)
        raise
    if query.wanted():
        query.answer(session)


main()
