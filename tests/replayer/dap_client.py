"""A scripted client of the Debug Adapter Protocol."""

import json
import queue
import subprocess
import threading

LIMIT = 600  # seconds for an answer


class Refused(Exception):
    """An error response."""


class DapClient:
    """Runs `reweave dap` and speaks with it. `events` has the events that no call has taken yet."""

    def __init__(self, reweave):
        self.process = subprocess.Popen([reweave, "dap"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.incoming = queue.Queue()
        self.events = []
        self.last = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        stream = self.process.stdout
        while header := stream.readline():
            length = int(header.split(b":")[1])
            stream.readline()
            self.incoming.put(json.loads(stream.read(length)))

    def raw(self, body):
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def send(self, command, **arguments):
        self.last += 1
        self.raw(json.dumps({"seq": self.last, "type": "request", "command": command, "arguments": arguments}).encode())
        return self.last

    def response(self, number):
        while True:
            message = self.incoming.get(timeout=LIMIT)
            if message["type"] == "event":
                self.events.append(message)
            elif message["request_seq"] == number:
                if not message["success"]:
                    raise Refused(message["message"])
                return message.get("body")

    def ask(self, command, **arguments):
        return self.response(self.send(command, **arguments))

    def event(self, name):
        """Waits for the next event of that name. Returns its body."""
        while True:
            for message in self.events:
                if message["event"] == name:
                    self.events.remove(message)
                    return message["body"]
            message = self.incoming.get(timeout=LIMIT)
            assert message["type"] == "event", message
            self.events.append(message)

    def launch(self, recording, **arguments):
        """Starts the session, up to the point where breakpoints can be set."""
        self.ask("initialize", adapterID="reweave")
        self.ask("launch", recording=str(recording), **arguments)
        self.event("initialized")

    def begin(self):
        self.ask("configurationDone")
        return self.event("stopped")

    def move(self, command, **arguments):
        self.ask(command, **arguments)
        return self.event("stopped")

    def top(self, thread):
        return self.ask("stackTrace", threadId=thread)["stackFrames"][0]

    def locals(self, thread):
        """Returns the local variables of the top frame by name."""
        return {each["name"]: each for each in self.scope(thread, 0)}

    def scope(self, thread, number):
        scopes = self.ask("scopes", frameId=self.top(thread)["id"])["scopes"]
        return self.ask("variables", variablesReference=scopes[number]["variablesReference"])["variables"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(LIMIT)
        self.process.stdout.close()
