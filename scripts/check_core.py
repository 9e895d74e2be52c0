#!/usr/bin/env python3
"""Counts constructs that make recorder/core hard to follow; the counts may only shrink.

    scripts/check_core.py [ROOT]

MOST has the limits. A count that grew is an error: distinguish calls by a flag, a field or a function of their row
(recorder/core/syscalls/table.h). Differences between modes belong in log/agree.h, syscalls/call.h and the kind of the
row. Calls to higher rooms go through a hook (recorder/core/wiring.cc). A count that shrank is an error until MOST
has it. Exit status 1 if a count differs from MOST.
"""
import pathlib
import re
import sys

CORE = "recorder/core"
MOST = {
    "tests on numbers of system calls outside the table": 16,
    "questions for the mode (live, replaying, modelled)": 210,
    "modules in the largest cycle": 9,
    "headers in the largest cycle": 1,
}
NUMBER_TEST = re.compile(r"[=!]=\s*SYS_\w+|\bcase SYS_\w+")
MODE_TEST = re.compile(r"\b(?:live|replaying|modelled)\(\)")
MODES_ARE_DEFINED = "base/context.h"
INCLUDE = re.compile(r'^#include "recorder/core/([^"]+)"', re.M)


def read_sources(root):
    """{path within the core: text} of its headers and sources."""
    core = root / CORE
    return {p.relative_to(core).as_posix(): p.read_text(encoding="utf-8")
            for p in sorted(core.rglob("*")) if p.suffix in (".h", ".cc")}


def module_of(path):
    """A header and the source of the same name are one module."""
    return path.rsplit(".", 1)[0]


def module_graph(sources):
    """{module: the modules that it includes}, only modules in `sources`."""
    graph = {module_of(path): set() for path in sources}
    for path, text in sources.items():
        own = module_of(path)
        graph[own] |= {m for m in map(module_of, INCLUDE.findall(text)) if m != own and m in graph}
    return graph


def reachable(graph, start):
    seen, left = set(), [start]
    while left:
        for other in graph[left.pop()] - seen:
            seen.add(other)
            left.append(other)
    return seen


def largest_cycle(graph):
    """The size of the largest strongly connected set of modules; 1 if there is no cycle."""
    reach = {module: reachable(graph, module) for module in graph}
    return max((sum(b in reach[a] and a in reach[b] for b in graph) for a in graph), default=0) or 1


def count(sources):
    """The counts, by the names in MOST."""
    headers = {path: text for path, text in sources.items() if path.endswith(".h")}
    modes = sum(len(MODE_TEST.findall(text)) for path, text in sources.items() if path != MODES_ARE_DEFINED)
    numbers = sum(len(NUMBER_TEST.findall(text)) for text in sources.values())
    return dict(zip(MOST, (numbers, modes, largest_cycle(module_graph(sources)),
                           largest_cycle(module_graph(headers)))))


def compare(counts, most):
    """Yields problems, one line each."""
    for name, number in counts.items():
        if number > most[name]:
            yield f"{CORE}: {number} {name}, {most[name]} at the most"
        elif number < most[name]:
            yield f"scripts/check_core.py: only {number} {name} are left; put that number into MOST"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    counts = count(read_sources(root))
    problems = list(compare(counts, MOST))
    print("\n".join(problems or [f"{number} {name}" for name, number in counts.items()]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
