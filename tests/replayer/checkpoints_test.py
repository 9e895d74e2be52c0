#!/usr/bin/env python3
"""Copies of a replay that start from checkpoints continue like the replay: with the same output from there on, the same
checksums, the same end.

    checkpoints_test.py REWEAVE PROGRAM PROGRAM.tsan
"""
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

LIMIT = 600  # seconds


class Helper:
    """A `reweave replay --hold-fd` that makes checkpoints. With `origin`, a checkpoint as (descriptor, event), it is a
    copy from there. With `check` it compares checksums at each call, which is slow."""

    def __init__(self, reweave, recording, event, output, origin, check):
        near, far = socket.socketpair()
        command = [reweave, "replay", recording, "-g", str(event), "--hold-fd", str(far.fileno()), "--checkpoints"]
        command += ["--check"] if check else []
        passed = [far.fileno()]
        if origin:
            command += ["--copy-of", str(origin[0]), "--copy-event", str(origin[1])]
            passed.append(origin[0])
        self.socket, self.event = near, event
        near.settimeout(LIMIT)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.PIPE,
                                        pass_fds=passed)
        far.close()
        self.rest, self.passed = b"", []

    def answer(self):
        while b"\n" not in self.rest:
            data, passed, _, _ = socket.recv_fds(self.socket, 65536, 1)
            if not data:
                raise RuntimeError("the helper has ended: %s" % self.process.stderr.read().decode())
            self.rest += data
            self.passed += passed
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def tell(self, request):
        self.process.stdin.write(request)
        self.process.stdin.flush()

    def go_to(self, event):
        self.event = event
        self.tell(b"t" + struct.pack("<Q", event))
        return self.answer()

    def checkpoint(self):
        """Makes a checkpoint. Returns its (descriptor, event), or the reason why there is none."""
        self.tell(b"c")
        answer = self.answer()
        return answer["refused"] if "refused" in answer else (self.passed.pop(), self.event)

    def finish(self):
        """Runs the replay to its end. Returns how it ended, without its output."""
        self.tell(b"g")
        end = self.answer()
        self.close()
        return end

    def close(self):
        self.socket.close()
        self.process.stdin.close()
        self.process.wait(LIMIT)
        self.process.stderr.close()


class Checkpoints(unittest.TestCase):
    reweave = plain = tsan = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="reweave-checkpoints-")
        self.addCleanup(self.folder.cleanup)
        self.outputs = 0

    def record(self, program, *what, check=False):
        self.recording = os.path.join(self.folder.name, "recording%d" % self.outputs)
        subprocess.run([self.reweave, "record", "--checksums", "--seed", "3", "-o", self.recording, "--", program, *what],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=LIMIT)
        self.check = check
        self.limits()
        whole = self.start(self.first)
        whole.answer()
        self.end = whole.finish()
        self.whole = self.output(whole)

    def limits(self):
        reader, writer = os.pipe()
        plain = subprocess.Popen([self.reweave, "replay", self.recording, "-q", "-g", "1", "--hold-fd", str(writer)],
                                 stdin=subprocess.PIPE, pass_fds=[writer])
        os.close(writer)
        with os.fdopen(reader) as lines:
            place = json.loads(lines.readline())
        plain.stdin.close()
        plain.wait(LIMIT)
        self.last, self.first = place["last"], max([place["first"]] + [to + 1 for _, to in place["loading"]])

    def start(self, event, origin=None):
        self.outputs += 1
        path = pathlib.Path(self.folder.name, "output%d" % self.outputs)
        with open(path, "wb") as output:
            helper = Helper(self.reweave, self.recording, event, output, origin, self.check)
        helper.path = path
        return helper

    @staticmethod
    def output(helper):
        return helper.path.read_bytes()

    def copy(self, origin, event=None):
        helper = self.start(event or origin[1], origin)
        helper.answer()
        return helper

    def same_end(self, helper, begin):
        """Checks the end of a copy that began at the event `begin`."""
        end = helper.finish()
        self.assertEqual(end, self.end, "from event %d" % begin)
        written = self.output(helper)
        self.assertTrue(self.whole.endswith(written), "from event %d: other output" % begin)
        return written

    def between(self, parts):
        """Returns the event at this fraction of the run."""
        return self.first + int((self.last - self.first) * parts)

    def exact(self, program, *what, check=False):
        """Makes copies from several places and of copies, several at once, while the original runs and afterwards."""
        self.record(program, *what, check=check)
        self.assertGreater(self.last - self.first, 50)
        original = self.start(self.between(0.2))
        original.answer()
        early = original.checkpoint()
        self.assertIsInstance(early, tuple, early)
        original.go_to(self.between(0.6))
        late = original.checkpoint()
        self.assertIsInstance(late, tuple, late)
        copies = [(self.copy(early), early), (self.copy(late), late), (self.copy(early, self.between(0.6)), early),
                  (self.copy(early, late[1] + 1), early)]
        of_copy = copies[2][0].checkpoint()
        self.assertIsInstance(of_copy, tuple, of_copy)
        copies.append((self.copy(of_copy, self.between(0.9)), of_copy))
        lengths = [len(self.same_end(helper, origin[1])) for helper, origin in copies]
        self.assertEqual(lengths[0], lengths[2])
        self.assertEqual(lengths[1], lengths[4])
        self.assertGreater(lengths[0], lengths[1])
        self.same_end(original, self.first)
        for origin in (early, of_copy, late):  # the originals have ended
            self.same_end(self.copy(origin), origin[1])
        for descriptor, _ in (early, late, of_copy):
            os.close(descriptor)

    def test_single_thread(self):
        self.exact(self.plain, "alone", check=True)

    def test_threads(self):
        self.exact(self.plain, "threads")
        self.exact(self.plain, "threads", "4", check=True)

    def test_instrumented(self):
        self.exact(self.tsan, "threads")

    def test_signals(self):
        self.exact(self.plain, "signals", check=True)

    def test_fault(self):
        self.exact(self.plain, "fault")

    def test_first_thread_ends(self):
        self.exact(self.plain, "main-ends")

    def test_many(self):
        self.record(self.plain, "threads")
        original = self.start(self.first)
        original.answer()
        made = []
        for i in range(1, 20):
            original.go_to(self.between(i / 20))
            made.append(original.checkpoint())
        self.same_end(original, self.first)
        for origin in made * 2:
            self.assertIsInstance(origin, tuple, origin)
            self.same_end(self.copy(origin), origin[1])
        for descriptor, _ in made:
            os.close(descriptor)

    def refused(self, what, why):
        """Some later checkpoints are refused with the reason `why`. The replay and earlier checkpoints still work."""
        self.record(self.plain, what)
        original = self.start(self.between(0.05))
        original.answer()
        early = original.checkpoint()
        self.assertIsInstance(early, tuple, early)
        reasons = set()
        for i in range(2, 20):
            original.go_to(self.between(i / 20))
            made = original.checkpoint()
            if isinstance(made, tuple):
                os.close(made[0])
            else:
                reasons.add(made)
        self.assertEqual(reasons, {why})
        self.assertEqual(original.finish(), self.end)
        copy = self.copy(early)
        self.assertEqual(copy.finish(), self.end)
        os.close(early[0])

    def test_refused_with_shared_memory(self):
        self.refused("shared", "part of its memory is shared")


if __name__ == "__main__":
    Checkpoints.reweave, Checkpoints.plain, Checkpoints.tsan = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
