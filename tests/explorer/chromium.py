"""A headless Chromium, driven through its DevTools protocol over pipes, using only Python's standard library."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium():
    """Returns the path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class ChromiumError(Exception):
    """The browser reported an error, or ended."""


class Chromium:
    """One browser with one page. As a context manager, it ends the browser and removes its profile."""

    def __init__(self, program, seconds=120):
        self.messages, self.number, self.seconds = [], 0, seconds
        self.profile = tempfile.TemporaryDirectory(prefix="reweave-chromium-", ignore_cleanup_errors=True)
        to_browser, self.to = os.pipe()
        self.answers, from_browser = os.pipe()
        # The protocol is on descriptors 3 and 4.
        script = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
        command = ["bash", "-c", script, "bash", str(to_browser), str(from_browser), program, "--headless=new",
                   "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-background-networking", "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}",
                   "about:blank"]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, pass_fds=(to_browser, from_browser))
        os.close(to_browser)
        os.close(from_browser)
        self.read, self.session = b"", None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.answers)
        self.profile.cleanup()

    def _next(self):
        while b"\0" not in self.read:
            piece = os.read(self.answers, 1 << 20)
            if not piece:
                raise ChromiumError("the browser ended")
            self.read += piece
        text, _, self.read = self.read.partition(b"\0")
        return json.loads(text)

    def call(self, method, **parameters):
        """Calls a method of the protocol and returns its result. Keeps events that arrive meanwhile in `messages`."""
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise ChromiumError(f"{method}: {answer['error']}")
                return answer["result"]
            self.messages.append(answer)

    def open(self, path, width=1400, height=1000, dark=False, media="", fragment="", scripts=True,
             ready="true"):
        """Loads the file, and waits until the expression `ready` holds; afterwards `messages` are those of this page."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self._load("about:blank")
        self._load(path.resolve().as_uri() + fragment)
        if scripts and ready:
            self.until(ready)
            self.settle()

    def _load(self, address):
        self.messages.clear()
        self.call("Page.navigate", url=address)
        until = time.monotonic() + self.seconds
        while not any(message.get("method") == "Page.loadEventFired" for message in self.messages):
            self.messages.append(self._next())
            if time.monotonic() > until:
                raise ChromiumError(f"{address} was not loaded")

    def until(self, expression):
        """Waits until the expression holds in the page."""
        until = time.monotonic() + self.seconds
        while not self.value(expression):
            if time.monotonic() > until:
                raise ChromiumError(f"{expression} does not come to hold")
            time.sleep(0.02)

    def settle(self):
        """Waits until the browser has drawn all changes."""
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def value(self, expression):
        """Returns the value of the expression in the page's JavaScript, after awaiting promises."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise ChromiumError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def press(self, key, text=""):
        """Presses a key such as "j" or "ArrowDown"."""
        codes = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39}
        typed = text or ("\r" if key == "Enter" else key if len(key) == 1 else "")
        code = codes.get(key, ord(key.upper()[0]))
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code,
                      **({"text": typed} if typed and kind == "keyDown" else {}))
        self.settle()

    def screenshot(self, path, whole=True):
        """Writes a PNG of the page."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def complaints(self):
        """Returns the page's output to the console, exceptions, violations of its policy, and requests for other files."""
        found = []
        for message in self.messages:
            method, about = message.get("method"), message.get("params", {})
            if method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
                found.append(json.dumps(about))
            if method == "Network.requestWillBeSent" and about["type"] != "Document":
                if not about["request"]["url"].startswith("data:"):
                    found.append(about["request"]["url"])
        return found
