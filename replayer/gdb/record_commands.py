"""`record` and `info record`, for users of gdb's own recording. The whole run is recorded, so nothing has to begin."""

import gdb

PLACES = {"begin": "1", "start": "1", "end": "end"}


class Record(gdb.Command):
    """record goto begin|end|EVENT goes there. Nothing else of `record` is needed: the whole run is recorded."""

    def __init__(self, session):
        super().__init__("record", gdb.COMMAND_RUNNING)
        self.session = session

    def invoke(self, argument, from_tty):
        word, _, where = argument.strip().partition(" ")
        if word != "goto":
            raise gdb.GdbError("reweave: no `record` in a replay: the whole run is recorded; `reweave back N` and `reweave goto "
                               "EVENT` go back in it")
        self.session.goto(PLACES.get(where.strip(), where.strip()) or "end")


class InfoRecord(gdb.Command):
    """Show how long the recording is, and where in it the replay is."""

    def __init__(self, session, name):
        super().__init__(name, gdb.COMMAND_STATUS)
        self.session = session

    def invoke(self, argument, from_tty):
        gdb.write("The whole run is recorded: events 0 to %d of %s.\n" % (self.session.place["total"] - 1,
                                                                          self.session.command[2]))
        if self.session.core is not None and gdb.selected_thread() is not None:
            gdb.execute("when")


def define(session):
    Record(session)
    InfoRecord(session, "info record")
    InfoRecord(session, "info rec")
