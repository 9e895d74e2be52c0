#!/usr/bin/env python3
"""`reweave dap` as an editor uses it, on a recording of dap_target.c; and the extension for VS Code.

Usage: dap_test.py REWEAVE TARGET SOURCE VSIX
"""

import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from unittest import mock

from dap_client import LIMIT, DapClient, Refused

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "replayer/dap"))
import mi  # noqa: E402
import motion  # noqa: E402

REWEAVE, TARGET, SOURCE, VSIX = sys.argv[1:5]
LINES = open(SOURCE, encoding="utf-8").read().splitlines()


def line(text):
    """Returns the number of the first line that contains the text."""
    return next(number for number, each in enumerate(LINES, 1) if text in each)


class DapTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="reweave-dap-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.place = os.path.realpath(cls.folder.name)
        cls.recording = os.path.join(cls.place, "recording")
        subprocess.run([REWEAVE, "record", "--seed", "1", "-o", cls.recording, "--", TARGET], stdin=subprocess.DEVNULL,
                       capture_output=True, timeout=LIMIT, check=False)

    def client(self):
        client = DapClient(REWEAVE)
        self.addCleanup(client.close)
        return client

    def begun(self, *lines, **arguments):
        """Returns a session at the beginning of the recording, with breakpoints at these lines."""
        client = self.client()
        client.launch(self.recording, **{"at": 1, **arguments})
        made = client.ask("setBreakpoints", source={"path": SOURCE}, breakpoints=list(lines))["breakpoints"]
        self.assertTrue(all(each["verified"] for each in made), made)
        client.begin()
        return client

    def values(self, client, thread):
        return {name: each["value"] for name, each in client.locals(thread).items()}

    def test_breakpoint_stack_and_variables(self):
        client = self.begun({"line": line("total = after")})
        thread = client.ask("threads")["threads"][0]["id"]
        stop = client.move("continue", threadId=thread)
        self.assertEqual(stop["reason"], "breakpoint")
        self.assertRegex(stop["description"], r"Breakpoint at \d+/t\d+/\d+@0x")
        self.assertEqual(len(stop["hitBreakpointIds"]), 1)
        names = [each["name"] for each in client.ask("threads")["threads"]]
        self.assertTrue(all(re.match(r"t\d+ tid \d+$", name) for name in names), names)
        self.assertGreaterEqual(len(names), 2)
        thread = stop["threadId"]
        stack = client.ask("stackTrace", threadId=thread)["stackFrames"]
        self.assertEqual([frame["name"] for frame in stack[:2]], ["add", "worker"])
        self.assertEqual(stack[0]["line"], line("total = after"))
        self.assertEqual(os.path.realpath(stack[0]["source"]["path"]), os.path.realpath(SOURCE))
        self.assertFalse([frame for frame in stack if "reweave" in frame["name"]])
        found = client.locals(thread)
        self.assertEqual((found["amount"]["value"], found["before"]["value"]), ("1", "0"))
        members = client.ask("variables", variablesReference=found["label"]["variablesReference"])["variables"]
        self.assertEqual([each["name"] for each in members], ["number", "name"])
        self.assertIn('"worker"', members[1]["value"])
        memory = client.ask("readMemory", memoryReference=members[1]["memoryReference"], count=7)
        self.assertEqual(base64.b64decode(memory["data"]), b"worker\0")
        registers = {each["name"]: each["value"] for each in client.scope(thread, 1)}
        self.assertEqual(int(registers["rip"], 16), int(stack[0]["instructionPointerReference"], 16))
        shown = client.ask("disassemble", memoryReference=stack[0]["instructionPointerReference"], instructionOffset=-2,
                           instructionCount=6)["instructions"]
        self.assertEqual(len(shown), 6)
        self.assertEqual(int(shown[2]["address"], 16), int(registers["rip"], 16))

    def test_evaluate_and_set(self):
        client = self.begun({"line": line("total = after")})
        thread = client.move("continue", threadId=1)["threadId"]
        frame = client.top(thread)["id"]
        self.assertEqual(client.ask("evaluate", expression="amount + 40", frameId=frame, context="watch")["result"], "41")
        self.assertEqual(client.ask("evaluate", expression="amount", frameId=frame, context="hover")["result"], "1")
        self.assertIn("= 3", client.ask("evaluate", expression="print amount + 2", frameId=frame, context="repl")["result"])
        self.assertEqual(client.ask("evaluate", expression="amount", frameId=frame, context="repl")["result"], "1")
        with self.assertRaisesRegex(Refused, "set var"):
            client.ask("evaluate", expression="amount = 3", frameId=frame, context="watch")
        with self.assertRaisesRegex(Refused, "No symbol \"nowhere\""):
            client.ask("evaluate", expression="nowhere", frameId=frame, context="watch")
        scope = client.ask("scopes", frameId=frame)["scopes"][0]["variablesReference"]
        self.assertEqual(client.ask("setVariable", variablesReference=scope, name="amount", value="9")["value"], "9")
        client.move("stepBack", threadId=thread)
        self.assertEqual(self.values(client, thread)["amount"], "1")  # the assignment had no effect

    def test_conditional_and_counted_breakpoints(self):
        client = self.begun({"line": line("total = after"), "condition": "amount == 3"})
        thread = client.move("continue", threadId=1)["threadId"]
        self.assertEqual(self.values(client, thread)["amount"], "3")
        client.ask("setBreakpoints", source={"path": SOURCE}, breakpoints=[])
        made = client.ask("setFunctionBreakpoints", breakpoints=[{"name": "add", "hitCondition": "3"},
                                                                 {"name": "add", "hitCondition": "% 2"}])["breakpoints"]
        self.assertTrue(made[0]["verified"])
        self.assertIn("hit count", made[1]["message"])
        self.assertEqual(client.move("restart")["reason"], "entry")
        stop = client.move("continue", threadId=1)
        self.assertEqual(stop["reason"], "breakpoint")
        self.assertEqual(client.top(stop["threadId"])["name"], "add")
        self.assertEqual(client.ask("setExceptionBreakpoints", filters=[])["breakpoints"], [])

    def test_steps_forward_and_back_give_the_same_values(self):
        client = self.begun({"line": line("int before")})
        thread = client.move("continue", threadId=1)["threadId"]
        client.ask("setBreakpoints", source={"path": SOURCE}, breakpoints=[])
        client.move("next", threadId=thread)
        seen = []
        for _ in range(2):
            seen.append((client.top(thread)["line"], self.values(client, thread)))
            client.move("next", threadId=thread)
        self.assertEqual([where for where, _ in seen], [line("int after"), line("total = after")])
        for expected in reversed(seen):
            stop = client.move("stepBack", threadId=thread)
            self.assertEqual((stop["threadId"], stop["reason"]), (thread, "step"))
            self.assertEqual((client.top(thread)["line"], self.values(client, thread)), expected)
        here = client.top(thread)["instructionPointerReference"]
        client.move("stepIn", threadId=thread, granularity="instruction")
        self.assertNotEqual(client.top(thread)["instructionPointerReference"], here)
        client.move("stepBack", threadId=thread, granularity="instruction")
        self.assertEqual(client.top(thread)["instructionPointerReference"], here)
        client.move("stepOut", threadId=thread)
        self.assertEqual(client.top(thread)["name"], "worker")

    def test_data_breakpoint_backward_lands_on_the_write(self):
        client = self.begun({"line": line("printf")})
        thread = client.move("continue", threadId=1)["threadId"]
        info = client.ask("dataBreakpointInfo", name="total", frameId=client.top(thread)["id"])
        self.assertEqual(info["accessTypes"], ["write"])
        made = client.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"]}])["breakpoints"]
        self.assertTrue(made[0]["verified"], made)
        stop = client.move("reverseContinue", threadId=thread)
        self.assertEqual(stop["reason"], "data breakpoint")
        self.assertEqual(client.top(stop["threadId"])["line"], line("total = after"))
        self.assertEqual(self.values(client, stop["threadId"])["after"], "66")
        self.assertRegex(stop["text"], "66 -> ")
        none = client.ask("dataBreakpointInfo", name="nowhere", frameId=client.top(stop["threadId"])["id"])
        self.assertIsNone(none["dataId"])
        self.assertIn("nowhere", none["description"])

    def test_the_same_position_has_the_same_variables_after_there_and_back(self):
        client = self.begun({"line": line("return after")})
        stops, moves = [], ("continue", "continue", "reverseContinue", "continue")
        thread = client.move("continue", threadId=1)["threadId"]
        for move in moves:
            stop = client.move(move, threadId=thread)
            thread = stop["threadId"]
            stops.append((stop["description"], client.ask("threads")["threads"][thread - 1]["name"],
                          self.values(client, thread)))
        self.assertNotEqual(stops[0], stops[1])
        self.assertEqual(stops[0], stops[2])
        self.assertEqual(stops[1], stops[3])

    def test_beginning_and_end(self):
        client = self.begun({"line": line("printf")})
        thread = client.move("continue", threadId=1)["threadId"]
        client.ask("setBreakpoints", source={"path": SOURCE}, breakpoints=[])
        stop = client.move("reverseContinue", threadId=thread)
        self.assertEqual((stop["reason"], stop["text"]), ("entry", "the beginning of the recording"))
        client.ask("continue", threadId=stop["threadId"])
        self.assertEqual(client.event("exited")["exitCode"], 7)
        client.event("terminated")
        self.assertEqual(client.ask("threads")["threads"], [])
        client.move("restart")
        client.ask("continue", threadId=1)
        self.assertEqual(client.event("output")["output"], "total 66\n")
        self.assertEqual(client.event("exited")["exitCode"], 7)
        client.ask("disconnect")
        self.assertEqual(client.process.wait(LIMIT), 0)

    def test_pause_and_breakpoints_while_it_runs(self):
        # Evaluating the condition takes so long that the program is still running.
        client = self.client()
        spinning = os.path.join(self.folder.name, "spinning")
        subprocess.run([REWEAVE, "record", "--seed", "1", "-o", spinning, "--", TARGET, "spin"], stdin=subprocess.DEVNULL,
                       capture_output=True, timeout=LIMIT, check=True)
        client.launch(spinning, at=1)
        client.ask("setFunctionBreakpoints", breakpoints=[{"name": "spin_once", "condition": "number < 0"}])
        client.begin()
        client.ask("continue", threadId=1)
        with self.assertRaisesRegex(Refused, "running"):
            client.ask("evaluate", expression="total", context="watch")
        stop = client.move("pause", threadId=1)
        self.assertEqual(stop["reason"], "pause")
        number = int(client.ask("evaluate", expression="spins", context="watch")["result"])
        client.ask("continue", threadId=1)
        made = client.ask("setBreakpoints", source={"path": SOURCE}, breakpoints=[
            {"line": line("spins++"), "condition": "number >= %d" % (number + 10)}])["breakpoints"]
        self.assertTrue(made[0]["verified"], made)
        stop = client.event("stopped")
        self.assertEqual(stop["reason"], "breakpoint")
        self.assertGreaterEqual(int(self.values(client, stop["threadId"])["number"]), number + 10)
        client.ask("setBreakpoints", source={"path": SOURCE}, breakpoints=[])
        client.ask("setFunctionBreakpoints", breakpoints=[])
        client.ask("continue", threadId=1)
        self.assertEqual(client.event("exited")["exitCode"], 0)

    def test_a_pause_while_gdb_evaluates_a_condition(self):
        adapter = mock.MagicMock()
        adapter.gdb.ended, adapter.gdb.send.return_value = False, 2
        with mock.patch.object(motion, "show_stop") as shown:
            motion.go(adapter, "continue")
            moves = adapter.motion
            moves.interrupted = True
            for line_of_gdb in ('*running,thread-id="all"', '&"Error in testing breakpoint condition:\\n"', '&"Quit\\n"',
                                '*stopped,reason="breakpoint-hit",bkptno="1"', "2^done"):
                moves.take(mi.parse(line_of_gdb))
        self.assertEqual(shown.call_args.args[1], "pause")

    def test_sources_where_they_were_built(self):
        source = self.compile("here", "dap_target.c")
        client = self.client()
        client.launch(self.record(source), at=1)
        made = client.ask("setBreakpoints", source={"path": source}, breakpoints=[{"line": line("total = after")}])
        self.assertTrue(made["breakpoints"][0]["verified"], made)
        client.begin()
        thread = client.move("continue", threadId=1)["threadId"]
        self.assertEqual(client.top(thread)["source"]["path"], source)

    def test_sources_that_are_not_the_programs(self):
        source = self.compile("other", "dap_target.c", "-fdebug-prefix-map=%s=/built/there" % self.place)
        recording = self.record(source)
        with open(source, "w", encoding="utf-8") as file:
            file.write("/* one\n * more */\n" + "\n".join(LINES))
        breakpoint_there = {"source": {"path": source}, "breakpoints": [{"line": line("total = after") + 2}]}
        client = self.client()
        client.launch(recording, at=1)
        made = client.ask("setBreakpoints", **breakpoint_there)["breakpoints"]
        self.assertFalse(made[0]["verified"], made)
        self.assertIn("sourceMap", made[0]["message"])
        self.assertFalse(client.ask("setBreakpoints", source={"path": "/nowhere/dap_target.c"},
                                    breakpoints=[{"line": 20}])["breakpoints"][0]["verified"])
        client.ask("terminate")
        client = self.client()
        client.launch(recording, at=1, sourceMap={"/built/there/other/": os.path.dirname(source)})
        self.assertTrue(client.ask("setBreakpoints", **breakpoint_there)["breakpoints"][0]["verified"])
        with self.assertRaisesRegex(Refused, "sourceMap"):
            self.client().launch(recording, sourceMap={"/built": 3})

    def compile(self, folder, name, *flags):
        """Copies the source to a new folder and compiles it there. Returns the path of the copy."""
        source = os.path.join(self.place, folder, name)
        os.mkdir(os.path.dirname(source))
        with open(source, "w", encoding="utf-8") as file:
            file.write("\n".join(LINES))
        subprocess.run(["cc", "-g", "-O0", "-pthread", *flags, source, "-o", source + ".program"], check=True,
                       env={**os.environ, "CCACHE_DISABLE": "1"})
        return source

    def record(self, source):
        recording = source + ".recording"
        subprocess.run([REWEAVE, "record", "--seed", "1", "-o", recording, "--", source + ".program"],
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False)
        return recording

    def test_the_end_of_the_recording(self):
        client = self.client()
        client.launch(self.recording)
        self.assertEqual(client.begin()["reason"], "entry")
        self.assertEqual(client.ask("evaluate", expression="total", context="watch")["result"], "66")
        client.ask("terminate")
        client.event("terminated")

    def test_errors(self):
        client = self.client()
        capabilities = client.ask("initialize", adapterID="reweave")
        self.assertTrue(capabilities["supportsStepBack"])
        for arguments, words in (({"recording": "/nowhere"}, "/nowhere"), ({}, "needs `recording`"),
                                 ({"recording": self.recording, "at": 99999999}, "99999999")):
            with self.subTest(arguments=arguments), self.assertRaisesRegex(Refused, words):
                client.ask("launch", **arguments)
        with self.assertRaisesRegex(Refused, "no replay"):
            client.ask("threads")
        with self.assertRaisesRegex(Refused, "no request 'fly'"):
            client.ask("fly")
        with self.assertRaisesRegex(Refused, "launched"):
            client.ask("attach")
        client.raw(b"not JSON")
        client.raw(b"[]")
        for words in ("not JSON", "not a request"):
            message = client.incoming.get(timeout=LIMIT)
            self.assertFalse(message["success"])
            self.assertIn(words, message["message"])
        client.ask("launch", recording=self.recording, at=1)
        client.ask("configurationDone")
        client.event("stopped")
        for command, arguments, words in (("stackTrace", {}, "threadId"), ("scopes", {"frameId": 77}, "earlier stop"),
                                          ("variables", {"variablesReference": 77}, "earlier stop"),
                                          ("pause", {"threadId": 1}, "not running"),
                                          ("source", {"source": {"path": "/nowhere.c"}}, "No such file"),
                                          ("continue", {"threadId": 99}, "thread")):
            with self.subTest(command=command), self.assertRaisesRegex(Refused, words):
                client.ask(command, **arguments)


class ExtensionTest(unittest.TestCase):
    def test_the_archive_is_complete(self):
        with zipfile.ZipFile(VSIX) as archive:
            self.assertIsNone(archive.testzip())
            names = archive.namelist()
            package = json.loads(archive.read("extension/package.json"))
            manifest = archive.read("extension.vsixmanifest").decode()
        self.assertIn("[Content_Types].xml", names)
        self.assertIn("extension/" + os.path.normpath(package["main"]), names)
        self.assertIn("extension/package.json", re.findall(r'Path="([^"]*)"', manifest))
        self.assertIn('Version="%s"' % package["version"], manifest)
        debugger = package["contributes"]["debuggers"][0]
        self.assertEqual(debugger["type"], "reweave")
        known = debugger["configurationAttributes"]["launch"]["properties"]
        for snippet in debugger["configurationSnippets"]:
            self.assertLessEqual(set(snippet["body"]) - {"type", "request", "name"}, set(known))

    def test_reweave_says_where_it_is(self):
        told = subprocess.run([REWEAVE, "dap", "--extension"], capture_output=True, text=True, timeout=LIMIT, check=True)
        self.assertEqual(os.path.realpath(told.stdout.strip()), os.path.realpath(VSIX))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
