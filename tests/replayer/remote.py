"""A small client of gdb's remote protocol, for tests of the stub (replayer/live/gdb_stub.h)."""
import json
import os
import socket
import subprocess
import tempfile


class Remote:
    """A replay of `recording` that stands at `where`, an event or a position."""

    def __init__(self, reweave, recording, where):
        self.folder = tempfile.TemporaryDirectory(prefix="reweave-remote-")
        path = os.path.join(self.folder.name, "stub")
        reader, writer = os.pipe()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen(1)
            self.stub = subprocess.Popen(
                [reweave, "replay", "--quiet", recording, "-g", str(where), "--hold-fd", str(writer), "--serve-gdb",
                 str(listener.fileno())], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                pass_fds=(writer, listener.fileno()))
        os.close(writer)
        with os.fdopen(reader) as answer:
            line = answer.readline()
        if not line:
            raise RuntimeError("no replay at %s: %s" % (where, self.stub.communicate()[1]))
        self.place = json.loads(line)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.received = b""
        self.ask("qSupported:swbreak+;multiprocess+")
        self.ask("QPassSignals:" + ";".join("%x" % number for number in range(1, 160)))
        self.thread = None
        self.note(self.ask("?"))

    def byte(self):
        if not self.received:
            self.received = self.socket.recv(65536)
            if not self.received:
                raise RuntimeError("the stub has ended: " + self.stub.communicate()[1])
        first, self.received = self.received[:1], self.received[1:]
        return first

    def ask(self, packet):
        data = packet.encode()
        self.socket.sendall(b"$" + data + b"#%02x" % (sum(data) & 255))
        while self.byte() != b"$":
            pass
        answer = b""
        while (byte := self.byte()) != b"#":
            answer += byte
        self.byte(), self.byte()
        self.socket.sendall(b"+")
        return answer.decode("latin-1")

    def note(self, stop):
        """Remembers the thread of `stop`, the answer to a motion. Returns `stop`."""
        if "thread:" in stop:
            self.thread = stop.split("thread:")[1].split(";")[0]
        return stop

    def move(self, packet):
        return self.note(self.ask(packet))

    def go_on(self):
        return self.move("vCont;c")

    def step(self):
        return self.move("vCont;s:%s;c" % self.thread)

    def back(self):
        return self.move("bc")

    def step_back(self):
        self.ask("Hc" + self.thread)
        self.ask("Hg" + self.thread)
        return self.move("bs")

    def registers(self):
        """Returns the registers as in the packet, except orig_rax, fs_base and gs_base: the first is left over from the
        last system call, the others depend on the runtime."""
        everything = self.ask("g")
        kernel = 2 * (17 * 8 + 7 * 4 + 8 * 10 + 8 * 4 + 16 * 16 + 4)  # offset of orig_rax, fs_base and gs_base
        return everything[:kernel] + everything[kernel + 48:]

    def monitor(self, command):
        return bytes.fromhex(self.ask("qRcmd," + command.encode().hex())).decode().strip()

    def close(self):
        self.socket.close()
        self.stub.communicate()
        self.folder.cleanup()
