"""Gives gdb the runtime's symbols in such a way that its steps pass over the runtime.

A system call of the program is a signal that the runtime handles. gdb would stop a `step` in the handler; it passes
only over code without line numbers and names. So gdb is shown a copy of the runtime's file in which the sections with
line numbers and names are renamed, and reads only the unwind tables.

The runtime moves a few instructions of the loader into stubs (recorder/core/code/stubs.h), which no symbol covers. A
`step` over a call that the loader still has to bind would stop there. gdb steps through the loader's binding of
functions, and takes each section named .plt for a part of it. So the stubs are shown as sections with this name.
"""

import os
import struct

import gdb

HEADER_BYTES, SECTION_BYTES = 64, 64
NULL, SYMBOLS, STRINGS, NOTHING = 0, 2, 3, 8  # section types; the last is NOBITS, without contents
ALLOCATED_CODE = 6  # section flags
RELOCATABLE, X86_64 = 1, 62


def object_file(size):
    """An object file that has only an empty section .plt of that size."""
    names = b"\0.plt\0.shstrtab\0"
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", RELOCATABLE, X86_64, 1, 0, 0, HEADER_BYTES, 0,
                                                        HEADER_BYTES, 0, 0, SECTION_BYTES, 3, 2)

    def section(name, kind, flags, offset, length):
        return struct.pack("<IIQQQQIIQQ", names.index(name), kind, flags, 0, offset, length, 0, 0, 1, 0)

    end = HEADER_BYTES + 3 * SECTION_BYTES
    return (header + bytes(SECTION_BYTES) + section(b".plt", NOTHING, ALLOCATED_CODE, end, size)
            + section(b".shstrtab", STRINGS, 0, end, len(names)) + names)


files = {}  # descriptors by contents; kept, because gdb opens the files again


def add_file(data, *places):
    """Makes gdb read the symbols of the ELF file with those contents."""
    if data not in files:
        files[data] = os.memfd_create("reweave-symbols")
        os.write(files[data], data)
    gdb.execute("add-symbol-file /proc/%d/fd/%d %s" % (os.getpid(), files[data], " ".join(places)), to_string=True)


def section_headers(data):
    """The fields of each section of an ELF file: name, type, flags, address, offset, size, link, ..."""
    start, = struct.unpack_from("<Q", data, 40)
    count, = struct.unpack_from("<H", data, 60)
    return [struct.unpack_from("<IIQQQQIIQQ", data, start + i * SECTION_BYTES) for i in range(count)]


def symbol_addresses(path, core):
    """{name: address} of the symbols in a list as nm(1) prints it. A line of kind n has the build ID of the core."""
    try:
        with open(path, encoding="ascii") as lines:
            rows = [line.split() for line in lines]
    except FileNotFoundError:
        raise gdb.GdbError("reweave: %s is missing: install all of Reweave's files" % path) from None
    if not any(kind == "n" and bytes.fromhex(name) in core for _, kind, name in rows):
        raise gdb.GdbError("reweave: %s is of another build than the runtime: install all of Reweave's files together" % path)
    return {name: int(address, 16) for address, _, name in rows}


def without_names(data):
    """The same ELF file without symbols and debug information."""
    hidden = bytearray(data.replace(b"\0.debug_", b"\0.hidden"))
    start, = struct.unpack_from("<Q", data, 40)
    for number, header in enumerate(section_headers(data)):
        if header[1] == SYMBOLS:
            struct.pack_into("<I", hidden, start + number * SECTION_BYTES + 4, NULL)
    return bytes(hidden)


def add_core(path):
    """Gives gdb the runtime's unwind tables. Returns the addresses from the list of symbols beside the runtime's
    file."""
    with open(path, "rb") as core:
        data = core.read()
    add_file(without_names(data))
    return symbol_addresses(path + ".symbols", data)


def add_stubs(places, slot):
    """`places` is a list of [start in slot 0, bytes, distance from slot to slot]; `slot` is the program's."""
    for start, size, distance in places:
        add_file(object_file(size), "-s", ".plt", hex(start + slot * distance))
