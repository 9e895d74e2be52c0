"""gdb on a recording, driven over its machine interface. gdb reads no command while the program runs."""

import os
import signal
import subprocess
import threading

from mi import parse, quoted
from protocol import Ended, Failure

EXIT_SECONDS = 5


class Gdb:
    """`reweave replay -g WHERE --backward` with MI on its standard streams.

    Puts gdb's records into `inbox` as ("gdb", Record), and ("gdb", None) at its end. `output(category, text)` receives
    the program's output and gdb's errors.
    """

    def __init__(self, arguments, inbox, output):
        reader, writer = os.pipe()
        self.process = subprocess.Popen([*arguments, "--gdb-mi", str(writer)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=(writer,),
                                        start_new_session=True)
        os.close(writer)
        self.inbox, self.output = inbox, output
        self.last_token = 0
        self.errors = []  # lines of the standard error, until the start is over
        self.ended = False
        self.threads = [threading.Thread(target=self.read_records, daemon=True),
                        threading.Thread(target=self.read_errors, daemon=True),
                        threading.Thread(target=self.read_output, args=(os.fdopen(reader, "rb"),), daemon=True)]
        for thread in self.threads:
            thread.start()

    def read_records(self):
        for line in self.process.stdout:
            record = parse(line.decode("utf-8", "replace").rstrip("\r\n"))
            if record is not None:
                self.inbox.put(("gdb", record))
        self.inbox.put(("gdb", None))

    def read_errors(self):
        for line in self.process.stderr:
            text = line.decode("utf-8", "replace")
            self.errors = [*self.errors[-20:], text]
            self.output("stderr", text)

    def read_output(self, stream):
        while data := stream.read1(65536):
            self.output("stdout", data.decode("utf-8", "replace"))

    def send(self, command):
        """Sends a command; returns the token of its result."""
        self.last_token += 1
        try:
            self.process.stdin.write(b"%d%s\n" % (self.last_token, command.encode()))
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError) as error:
            raise Ended from error
        return self.last_token

    def send_console(self, command):
        return self.send("-interpreter-exec console " + quoted(command))

    def interrupt(self):
        os.kill(self.process.pid, signal.SIGINT)

    def failure(self):
        """The reason why gdb ended: the last messages of gdb or reweave."""
        self.process.wait(EXIT_SECONDS)
        self.threads[1].join(EXIT_SECONDS)
        lines = [line.strip() for line in self.errors if line.strip()]
        return "\n".join(lines[-3:]) or "gdb ended with status %d" % self.process.returncode

    def end(self):
        """Ends gdb and the replay, even while gdb is busy."""
        if self.process.poll() is None:
            try:
                self.interrupt()
                self.send("-gdb-exit")
                self.process.stdin.close()
            except (Failure, OSError):
                pass
        try:
            self.process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for thread in self.threads:
            thread.join(1)
