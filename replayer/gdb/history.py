"""Questions that only a recording can answer: who wrote this, when did this become true, who took this lock.

The stub finds the answers in replays of its own (replayer/live/stub_questions.cc), so the process that gdb debugs does
not move. To show the stack at an answer, gdb is switched to that place for a moment. Each answer is a dictionary: ask()
makes it, and show() or `reweave query` (query.py) puts it into words.
"""

import contextlib
import json
import re

import gdb

import frames
import stepping

MOST_FRAMES = 12
MOST_BYTES = 4096
OWNER = 8  # offset in glibc's pthread_mutex_t (x86-64) of the kernel's id of the holder
OWNER_BYTES = 4
# Types of other locks of the C library, some of which have no tag, and of C++.
OTHER_LOCKS = re.compile(r"pthread_(rwlock|spinlock|cond|barrier)_t|\bsem_t\b|std::(__\d+::)?(_V2::)?"
                         r"(shared_mutex|shared_timed_mutex|counting_semaphore|condition_variable\w*|latch|barrier)\b")


def need_backward(what):
    if not stepping.remote:
        raise gdb.GdbError("reweave %s: this command looks back, and works only in `reweave replay --backward`" % what)


def need_process(session):
    if session.core is None or not stepping.alive():
        raise gdb.GdbError("The replay is not running; reweave goto EVENT starts it again.")


def ask(question):
    """The stub's answer, as a dictionary."""
    answer = json.loads(gdb.execute("monitor " + question, to_string=True))
    if "error" in answer:
        raise gdb.GdbError("reweave: " + answer["error"])
    return answer


def place_of(expression):
    """The place of a value in memory: address, type or None, and bytes. A number is the address of 8 bytes."""
    try:
        value = gdb.parse_and_eval(expression)
        if value.address is not None:
            return int(value.address), value.type, value.type.strip_typedefs().sizeof
    except gdb.error as error:
        raise gdb.GdbError(str(error))
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
        target = value.type.strip_typedefs().target()
        if target.strip_typedefs().code not in (gdb.TYPE_CODE_VOID, gdb.TYPE_CODE_FUNC):
            return int(value), target, target.strip_typedefs().sizeof
    if value.type.strip_typedefs().code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_PTR):
        return int(value) & (1 << 64) - 1, None, 8
    raise gdb.GdbError("%s is not in memory; give a variable or an address" % expression)


def text_of(data, kind):
    """A value as gdb prints it. `data`: hexadecimal."""
    raw = bytes.fromhex(data)
    if not raw:
        return "<not mapped>"
    if kind is None:
        return "%#x" % int.from_bytes(raw, "little")
    try:
        return gdb.Value(raw, kind).format_string(max_elements=16)
    except (gdb.error, ValueError, TypeError):
        return "0x" + data


@contextlib.contextmanager
def visit():
    """While this is active, gdb looks at the place of the last answer."""
    selected = gdb.selected_thread().ptid[1]
    level = gdb.selected_frame().level()
    oldest = min(gdb.selected_inferior().threads(), key=lambda thread: thread.ptid[1])
    oldest.switch()  # gdb must not have a thread selected that does not exist there yet
    name = gdb.execute("monitor visit", to_string=True).strip()
    if name.startswith("{"):
        switch_to(selected)
        raise gdb.GdbError("reweave: " + json.loads(name)["error"])
    try:
        look_again()
        switch_to(int(name.partition(".")[2], 16))
        yield
    finally:
        oldest.switch()
        gdb.execute("monitor leave", to_string=True)
        look_again()
        switch_to(selected)
        look_again()
        frame = gdb.newest_frame()
        while frame is not None and frame.level() < level:
            frame = frame.older()
        if frame is not None:
            frame.select()


def switch_to(tid):
    """Updates gdb's list of threads, then selects a thread. gdb treats a thread that did not exist at the previous
    place as a new one."""
    gdb.execute("info threads 0", to_string=True)
    for thread in gdb.selected_inferior().threads():
        if thread.is_valid() and thread.ptid[1] == tid:
            thread.switch()


def look_again():
    """Makes gdb forget what it has read of the process."""
    gdb.execute("maintenance flush register-cache", to_string=True)
    gdb.execute("maintenance flush dcache", to_string=True)


def stack_here(session):
    """The program's frames, innermost first."""
    stack = []
    frame = frames.program_frame(session.is_ours)
    while frame is not None and len(stack) < MOST_FRAMES:
        if not session.is_ours(frame) and (stack or not frames.is_access(frame)):
            sal = frame.find_sal()
            entry = {"function": frame.name() or "", "pc": int(frame.pc())}
            if sal.symtab is not None:
                entry.update(file=sal.symtab.filename, line=sal.line)
            stack.append(entry)
        frame = frame.older()
    return stack


def with_stack(session, answer):
    """Adds the stack at the place of the answer to it."""
    if answer["found"]:
        with visit():
            answer["stack"] = stack_here(session)
    return answer


def who_wrote(session, expression):
    need_backward("who-wrote")
    need_process(session)
    address, kind, size = place_of(expression)
    if size > MOST_BYTES:
        raise gdb.GdbError("%s has %d bytes; give a value of at most %d" % (expression, size, MOST_BYTES))
    answer = with_stack(session, ask("last-change %x %x" % (address, size)))
    answer.update(expression=expression, address=address, bytes=size)
    if answer["found"]:
        answer["old"], answer["new"] = text_of(answer["old"], kind), text_of(answer["new"], kind)
    return answer


def check_mutex(kind, expression):
    """Raises an error if the type is that of another lock: only mutexes store their holder. `kind`: None if unknown."""
    name = "" if kind is None else str(kind.unqualified()) + " " + str(kind.strip_typedefs().unqualified())
    other = OTHER_LOCKS.search(name)
    if other:
        raise gdb.GdbError("reweave last-lock: %s is not a mutex (%s), so its holder is not stored in it; `reweave "
                           "who-wrote` names its last change" % (expression, other[0]))


def last_lock(session, expression):
    need_backward("last-lock")
    need_process(session)
    address, kind, _ = place_of(expression)
    check_mutex(kind, expression)
    question = "last-change %x %x" % (address + OWNER, OWNER_BYTES)
    answer = ask(question)
    released = answer["found"] and int.from_bytes(bytes.fromhex(answer["new"]), "little") == 0
    if released:
        answer = ask(question + " before")
    held = answer["found"] and not released
    for name in ("old", "new"):
        answer.pop(name, None)
    answer = with_stack(session, answer)
    answer.update(expression=expression, address=address, held=held)
    return answer


def where_freed(session, expression):
    need_backward("where-freed")
    need_process(session)
    try:
        pointer = int(gdb.parse_and_eval("(unsigned long)(%s)" % expression))
    except gdb.error as error:
        raise gdb.GdbError(str(error))
    functions = []
    for name in ("free", "__libc_free", "realloc", "__libc_realloc"):
        try:
            functions.append(int(gdb.parse_and_eval("(unsigned long)&'%s'" % name)))
        except gdb.error:
            continue
    if not functions:
        raise gdb.GdbError("reweave where-freed: this program has no `free`")
    answer = with_stack(session, ask("last-release %x %s" % (pointer, " ".join("%x" % each for each in functions))))
    answer.update(expression=expression, address=pointer)
    return answer


class Becomes(gdb.Breakpoint):
    """Stops after a write to anything that an expression depends on, if the expression is true then."""

    def __init__(self, expression):
        super().__init__(expression, gdb.BP_WATCHPOINT, gdb.WP_WRITE, internal=True)
        self.silent = True
        self.wanted, self.met = expression, False

    def stop(self):
        self.met = is_true(self.wanted)
        return self.met


def is_true(expression):
    try:
        return bool(gdb.parse_and_eval(expression))
    except gdb.MemoryError:
        return False
    except gdb.error as error:
        raise gdb.GdbError(str(error))


def first_true(session, expression, start):
    """Goes to the first instant at or after `start` at which the expression is true. False if there is none."""
    stops = [stop for stop in gdb.breakpoints() if stop.enabled]
    for stop in stops:
        stop.enabled = False
    try:
        with stepping.silence():
            session.restart(start)
            if is_true(expression):
                return True
            becomes = Becomes(expression)
            try:
                while stepping.alive() and not becomes.met:
                    gdb.execute("continue", to_string=True)
                return becomes.met and stepping.alive()
            finally:
                if becomes.is_valid():
                    becomes.delete()
    finally:
        for stop in stops:
            if stop.is_valid():
                stop.enabled = True


def when(session, expression, start, stay):
    need_backward("when")
    need_process(session)
    is_true(expression)  # reports a bad expression before the replay starts again
    session.excursion.end()
    before = session.position()
    before = "end" if " " in before and session.place["at_end"] else before.split("/in")[0].strip()
    answer = {"expression": expression, "from": start, "found": False}
    try:
        if first_true(session, expression, start):
            answer.update(found=True, position=session.position(), event=session.core.event(),
                          thread=session.core.holder(), stack=stack_here(session))
    finally:
        if stay or not answer["found"]:
            with stepping.silence():
                session.restart(before)
    return answer
