"""The functions that a source of the program defines, by which a copy of the source can be recognised."""

import gdb


def functions_of(path):
    """(line, name) of each function that gdb finds in the source with this full path."""
    quoted = path.replace("\\", "\\\\").replace("'", "\\'")
    found = set()
    for place in gdb.decode_line("'%s':1" % quoted)[1] or ():
        for block in (place.symtab.global_block(), place.symtab.static_block()):
            found |= {(symbol.line, symbol.name) for symbol in block
                      if symbol.is_function and symbol.symtab.fullname() == place.symtab.fullname()}
    return sorted(found)


def show(path):
    """Prints them, one a line."""
    for line, name in functions_of(path):
        print(line, name)
