"""The events and thread switches around an event, as `reweave dump` prints them."""

import re
import subprocess

WINDOW = 1000  # events on each side in which switches are looked for
LINE = re.compile(r"(\d+) t(\d+) (.*)")


def events(session, first, end):
    """[(event, thread, text)] of the recording."""
    program, _, recording = session.command[:3]
    dumped = subprocess.run([program, "dump", recording, "--first", str(max(first, 0)), "--end", str(end)],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            errors="replace", check=False).stdout
    return [(int(found[1]), int(found[2]), found[3]) for found in map(LINE.match, dumped.splitlines()) if found]


def around(rows, here, count):
    before = [row for row in rows if row[0] < here][-(count // 2):]
    return before + [row for row in rows if row[0] >= here][:count - count // 2]


def as_answers(rows):
    return [{"event": event, "thread": thread, "what": text} for event, thread, text in rows]


def timeline(session, count):
    here = session.core.event()
    return as_answers(around(events(session, here - count, here + count), here, count))


def switches(session, count):
    here = session.core.event()
    rows = [row for row in events(session, here - WINDOW, here + WINDOW) if row[2].startswith("switch")]
    return as_answers(around(rows, here, count))


def text_of(rows, here):
    """One line for each row; `>` marks the first event that is still to come."""
    lines, shown = "", False
    for row in rows:
        mark = ">" if row["event"] >= here and not shown else " "
        shown = shown or mark == ">"
        lines += "%s %d %st%d %s\n" % (mark, row["event"], "  " * row["thread"], row["thread"], row["what"])
    return lines or "no such events within %d of this one\n" % WINDOW
