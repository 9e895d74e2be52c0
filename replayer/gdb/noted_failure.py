"""Finds the place where a test framework noted a failure. A failing test ends long after that, by an exit status."""

import gdb

import moment
import stepping

# For each framework, the function that it calls for each check, and the condition that is true if the check failed
# (None: always).
NOTES = {
    "GoogleTest": ("testing::internal::AssertHelper::operator=", None),
    "Boost.Test": ("boost::unit_test::framework::assertion_result", "$edi == 0"),  # AR_FAILED
}


class Note(gdb.Breakpoint):
    """Stops at the first call."""

    def __init__(self, framework, function, condition):
        super().__init__(function, internal=True)
        self.framework, self.reached = framework, False
        self.silent = True
        if condition is not None:
            self.condition = condition

    def stop(self):
        self.reached = True
        return True


def is_known(function):
    """True if the program has the function."""
    try:
        gdb.decode_line(function)
    except gdb.error:
        return False
    return True


def go(session):
    """Goes from the end of a run that exited to its first failed check. False, and still at the end, if there was
    none."""
    known = {name: note for name, note in NOTES.items() if is_known(note[0])}
    if not known:
        return False
    session.restart("1", quiet=True)  # the user has already seen the program's output
    with stepping.silence():
        notes = [Note(name, *note) for name, note in known.items()]
        gdb.execute("continue", to_string=True)
    reached = [note.framework for note in notes if note.reached]
    for note in notes:
        if note.is_valid():
            note.delete()
    if not reached or not stepping.alive():
        session.restart("end", quiet=True)
        return False
    gdb.write("Here %s noted a check that failed; `reweave goto end` goes to the end of the run.\n" % reached[0])
    session.show()
    moment.select_users_frame(session)
    return True
