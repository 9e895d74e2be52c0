"""The answer to `reweave query`: one line of JSON (docs/debugging.md), and the exit status."""

import json
import os

import gdb

import history
import nearby

EXIT_BAD_INPUT, EXIT_TRUNCATED, EXIT_INTERNAL = 2, 6, 70  # formats/base/exit_status.h
TRUNCATED = "the recording is truncated; what came after is not known"

QUESTIONS = {
    "who-wrote": history.who_wrote,
    "last-lock": history.last_lock,
    "where-freed": history.where_freed,
    "when": lambda session, expression: history.when(session, expression, "1", True),
    "switches": lambda session, _: {"found": True, "events": nearby.switches(session, 20)},
    "timeline": lambda session, _: {"found": True, "events": nearby.timeline(session, 20)},
}


def wanted():
    return "REWEAVE_QUERY_FD" in os.environ


def write(answer):
    with os.fdopen(int(os.environ["REWEAVE_QUERY_FD"]), "w") as output:
        output.write(json.dumps({"question": os.environ["REWEAVE_QUERY"], **answer}) + "\n")


def truncated():
    return "REWEAVE_QUERY_TRUNCATED" in os.environ


def leave(status, message=""):
    if message:
        with os.fdopen(int(os.environ["REWEAVE_QUERY_ERRORS_FD"]), "w") as errors:
            errors.write("reweave: %s\n" % message)
    gdb.execute("quit %d" % status)


def fail(message, status):
    """Ends gdb."""
    message = str(message)
    if truncated():
        message, status = TRUNCATED, EXIT_TRUNCATED
    message = message[len("reweave: "):] if message.startswith("reweave: ") else message
    write({"error": message, "status": status})
    leave(status, message)


def which_process(place):
    """Names the process that was asked, if the recording has several."""
    if place["processes"] < 2:
        return ""
    return "; process %d (%s) was asked, -p chooses another one that `reweave ps` lists" % (place["recorded_pid"], place["program"])


def answer(session):
    """Ends gdb."""
    try:
        found = QUESTIONS[os.environ["REWEAVE_QUERY"]](session, os.environ["REWEAVE_QUERY_OF"])
    except (gdb.error, gdb.GdbError) as error:
        return fail(str(error).rstrip(".") + which_process(session.place), EXIT_BAD_INPUT)
    except Exception as error:  # noqa: BLE001: every error gets an answer
        return fail("internal error: %r" % error, EXIT_INTERNAL)
    write({"at": os.environ["REWEAVE_GDB_EVENT"], **({"truncated": True} if truncated() else {}), **found})
    if truncated():
        leave(EXIT_TRUNCATED, TRUNCATED)
    leave(0)
