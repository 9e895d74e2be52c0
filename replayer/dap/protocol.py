"""The Debug Adapter Protocol's framing: JSON messages after a Content-Length header."""

import json
import threading


class Malformed(Exception):
    """The input is not a message of the protocol."""


class Failure(Exception):
    """A request cannot be carried out; the text is for the user."""


class Ended(Failure):
    """gdb has ended."""

    def __init__(self):
        super().__init__("gdb has ended")


def read_message(stream):
    """The client's next message, or None at the end of the stream."""
    length = None
    while True:
        line = stream.readline()
        if not line:
            return None
        if not line.strip():
            break
        name, _, value = line.decode("utf-8", "replace").partition(":")
        if name.strip().lower() == "content-length" and value.strip().isdigit():
            length = int(value)
    if length is None:
        raise Malformed("a message without Content-Length")
    body = stream.read(length)
    if len(body) < length:
        return None
    try:
        message = json.loads(body)
    except ValueError as error:
        raise Malformed("a message that is not JSON: %s" % error) from error
    if not isinstance(message, dict) or message.get("type") != "request" or not isinstance(message.get("command"), str):
        raise Malformed("a message that is not a request")
    return message


class Client:
    """Sends messages to the client. Threads may send at the same time."""

    def __init__(self, stream):
        self.stream = stream
        self.lock = threading.Lock()
        self.last = 0

    def send(self, message):
        with self.lock:
            self.last += 1
            body = json.dumps(dict(message, seq=self.last)).encode()
            try:
                self.stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
                self.stream.flush()
            except (BrokenPipeError, ValueError):
                pass  # the client has gone; the end of the other stream reports that

    def event(self, name, **body):
        self.send({"type": "event", "event": name, "body": body})

    def respond(self, request, body=None):
        self.send({"type": "response", "request_seq": request.get("seq", 0), "command": request["command"],
                   "success": True, "body": body or {}})

    def refuse(self, request, text):
        self.send({"type": "response", "request_seq": request.get("seq", 0), "command": request.get("command", ""),
                   "success": False, "message": text,
                   "body": {"error": {"id": 1, "format": text.replace("{", "(").replace("}", ")"), "showUser": True}}})
