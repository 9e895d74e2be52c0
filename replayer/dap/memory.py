"""Memory and machine code."""

import base64
import bisect

from protocol import Failure

LONGEST_INSTRUCTION = 15  # of x86-64


def handlers(adapter):
    return {"readMemory": lambda request, arguments: read(adapter, arguments),
            "disassemble": lambda request, arguments: disassemble(adapter, arguments)}


def read(adapter, arguments):
    start = int(arguments["memoryReference"], 0) + arguments.get("offset", 0)
    count = arguments["count"]
    if count == 0:
        return {"address": hex(start)}
    try:
        blocks = adapter.ask("-data-read-memory-bytes %d %d" % (start, count))["memory"]
    except Failure:
        return {"address": hex(start), "unreadableBytes": count}
    data = bytes.fromhex(blocks[0]["contents"]) if int(blocks[0]["begin"], 16) == start else b""
    return {"address": hex(start), "data": base64.b64encode(data).decode(), "unreadableBytes": count - len(data)}


def instructions(adapter, options):
    try:
        return adapter.ask("-data-disassemble %s -- 0" % options)["asm_insns"]
    except Failure:
        return []


def disassemble(adapter, arguments):
    """Before the address, disassembles only its function: elsewhere the starts of instructions are unknown."""
    start = int(arguments["memoryReference"], 0) + arguments.get("offset", 0)
    offset, count = arguments.get("instructionOffset", 0), arguments["instructionCount"]
    found = {int(each["address"], 16): each for each in instructions(adapter, "-a %d" % start)} if offset < 0 else {}
    found = {address: each for address, each in found.items() if address < start}
    ahead = max(count + offset, 1)
    for each in instructions(adapter, "-s %d -e %d" % (start, start + ahead * LONGEST_INSTRUCTION)):
        found[int(each["address"], 16)] = each
    addresses = sorted(found)
    first = bisect.bisect_left(addresses, start) + offset
    wanted = range(first, first + count)
    return {"instructions": [line(found[addresses[index]]) if 0 <= index < len(addresses) else
                             unknown(start + index - first + offset) for index in wanted]}


def line(each):
    shown = {"address": each["address"], "instruction": each["inst"]}
    if "func-name" in each:
        shown["symbol"] = "%s+%s" % (each["func-name"], each.get("offset", 0))
    return shown


def unknown(address):
    return {"address": hex(max(address, 0)), "instruction": "??", "presentationHint": "invalid"}
