#!/usr/bin/env python3
"""Runs a command in known surroundings, so that it does the same for every caller.

    scripts/surroundings.py COMMAND...

The command gets a session of its own, no terminal, /dev/null as its input, the default disposition of every signal and
none blocked. It gets no other descriptors than 0 to 2, a umask of 022, no core files, and the usual soft limits as far
as the hard ones allow. It gets ordinary scheduling with nice value 0 (without root: the nice value it was started
with), few environment variables, and an empty TMPDIR that is removed afterwards. It keeps the processors that it may
use and the working folder. When it has ended, every process that it left behind is killed. Exit status: the command's,
128 + N if signal N ended it. SIGINT, SIGTERM and SIGHUP end the command and what it started.
"""
import contextlib
import ctypes
import os
import pathlib
import resource
import shutil
import signal
import sys
import tempfile
import time

PR_SET_CHILD_SUBREAPER = 36
KEPT = ("PATH", "HOME", "USER", "LOGNAME", "JOBS", "CI")
KEPT_PREFIXES = ("REWEAVE_", "MESON_", "CCACHE_")
SET = {"LANG": "C.UTF-8", "TERM": "dumb"}
MIB = 1 << 20
SOFT_LIMITS = {resource.RLIMIT_NOFILE: 1024, resource.RLIMIT_STACK: 8 * MIB}
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LAST_DESCRIPTOR = 1 << 20


def environment(temporary):
    kept = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith(KEPT_PREFIXES)}
    return {**kept, **SET, "TMPDIR": temporary}


def set_signals():
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)


def set_limits():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for which, wanted in SOFT_LIMITS.items():
        hard = resource.getrlimit(which)[1]
        resource.setrlimit(which, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def set_scheduling():
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    with contextlib.suppress(PermissionError):  # only root may lower it
        os.setpriority(os.PRIO_PROCESS, 0, 0)


def become(command, temporary):
    """Becomes the command. Runs in the child and does not return."""
    try:
        os.setsid()
        set_limits()
        set_scheduling()
        os.umask(0o022)
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        os.closerange(3, LAST_DESCRIPTOR)
        set_signals()
        os.execvpe(command[0], command, environment(temporary))
    except OSError as problem:
        os.write(2, f"surroundings: {command[0]}: {problem.strerror}\n".encode())
    os._exit(127)


def children(pid):
    with contextlib.suppress(OSError):
        return [int(child) for tasks in pathlib.Path(f"/proc/{pid}/task").iterdir()
                for child in (tasks / "children").read_text().split()]
    return []


def kill_descendants():
    """Kills all descendants. Children of a killed process become ours, so this repeats until there are none."""
    found = children(os.getpid())
    while found:
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        time.sleep(0.002)
        found = children(os.getpid())


def wait_for(pid):
    """Returns the exit status of the child. Meanwhile collects descendants that have lost their parents."""
    while True:
        ended, status = os.wait()
        if ended == pid:
            return os.waitstatus_to_exitcode(status)


class Ended(Exception):
    pass


def end(number, _):
    raise Ended(number)


def main(command):
    if not command:
        sys.exit(__doc__)
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # if it were ignored, wait would find no status
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD, *ENDING})
    for number in ENDING:
        signal.signal(number, end)
    temporary = tempfile.mkdtemp(prefix="reweave-test-", dir="/tmp")
    os.chmod(temporary, 0o1777)  # as /tmp
    try:
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            become(command, temporary)
        status = wait_for(pid)
    except Ended as ended:
        status = -ended.args[0]
    finally:
        kill_descendants()
        shutil.rmtree(temporary, ignore_errors=True)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
