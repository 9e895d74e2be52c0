#!/usr/bin/env python3
"""Checks the includes: folders are layers, and there are no include cycles.

    scripts/check_layers.py [ROOT]

LAYERS is the rule (docs/architecture.md, "Data flow", says why). The longest folder that a file is in decides. Within the core,
CORE_ROOMS is the order of its folders: a header may not include one of a room above its own. Source files that call
upward are listed in scripts/core_up_calls.txt, which may only shrink. ROOMS has the order of the rooms of other folders.
Exit status 1 if a file breaks a rule.
"""
import collections
import pathlib
import re
import sys

# Files that code inside the target may include besides its own folder: no library, nothing that allocates.
IN_PROCESS = ("formats/wire.h", "formats/event.h", "recorder/arena.h", "recorder/runtime_state.h", "recorder/policy.h",
              "recorder/core_api.h", "recorder/elf_symbols.h", "recorder/guard.h", "recorder/observation.h",
              "recorder/checkpoint_calls.h", "recorder/stack_cache.h", "recorder/system_files.h", "recorder/fp_layout.h", "recorder/own_files.h", "recorder/id_set.h",
              "recorder/alive_processes.h", "recorder/live_threads.h", "recorder/wait_queues.h", "recorder/beginning.h", "recorder/heap_poison.h", "recorder/sled_format.h",
              "recorder/counted_loop.h", "recorder/waiting.h", "recorder/peek.h", "recorder/splitmix.h")
# "x/" allows all below x, "x/*" the files directly in x, anything else that one file. Own folder always.
LAYERS = {
    "formats/": (),
    "recorder/compiler/": ("recorder/sled_format.h", "formats/code/summary_format.h"),
    "recorder/": ("formats/wire.h", "formats/event.h"),
    "recorder/core/": IN_PROCESS,
    "recorder/shim/": IN_PROCESS,
    "explorer/strategies/": IN_PROCESS,
    # The rows are data, from which the names of calls are derived.
    "recorder/supervisor/": ("formats/", "recorder/*", "recorder/core/syscalls/rows.inc"),
    "replayer/": ("formats/", "recorder/counted_loop.h", "recorder/policy.h", "recorder/supervisor/"),
    "predictor/": ("formats/",),
    # The decoder of instructions depends on nothing.
    "explorer/": ("formats/", "recorder/*", "recorder/supervisor/", "replayer/", "predictor/",
                  "recorder/core/code/instruction.h"),
}
# The rooms of recorder/core, lowest first. Files directly in the core are above all rooms.
CORE = "recorder/core/"
CORE_ROOMS = ("base", "memory", "log", "schedule", "signals", "ptrace", "syscalls", "image", "code", "preempt",
              "explored", "processor")
# The rooms of other folders, lowest first: none includes a file of a higher one. Folders beside them are not ordered.
# Files directly in `formats` are below its rooms (the headers that the core shares); in the others they are above.
ROOMS = {
    "formats/": ("base", "elf", "recording", "trace", "code", "text"),
    "recorder/supervisor/": ("process", "ring", "target", "tree", "record"),
    "predictor/": ("model", "witness", "decide", "report"),
    "explorer/": ("run", "words", "campaign"),
}
FILES_BELOW_ROOMS = ("formats/",)
MOST_FILES = 40  # in a room
UP_CALLS = "scripts/core_up_calls.txt"
# Folders whose rule applies only to files directly in them: their subfolders are separate layers.
FLAT = ("recorder/",)
SUFFIXES = (".h", ".cc", ".c", ".inc", ".S")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def matches(included, pattern):
    if pattern.endswith("/*"):
        return str(pathlib.PurePosixPath(included).parent) == pattern[:-2]
    return included.startswith(pattern) if pattern.endswith("/") else included == pattern


def layer_of(path):
    """The longest key of LAYERS that `path` is below, or None."""
    return max((layer for layer in LAYERS if path.startswith(layer)), key=len, default=None)


def allowed(path, included):
    layer = layer_of(path)
    own = layer + "*" if layer in FLAT else layer
    return any(matches(included, pattern) for pattern in (own, *LAYERS[layer]))


def exists(root, included):
    generated = included.removesuffix(".h") if included.endswith(".capnp.h") else included
    return (root / generated).is_file()


def read_includes(root):
    """{file: [its includes]} for every source in the layers."""
    files = sorted(p for layer in LAYERS for p in root.glob(layer + "**/*") if p.suffix in SUFFIXES and p.is_file())
    return {p.relative_to(root).as_posix(): INCLUDE.findall(p.read_text(encoding="utf-8")) for p in files}


def floor_of(path):
    """The index of the room of the core that `path` is in, lowest first."""
    room, _, rest = path.removeprefix(CORE).partition("/")
    return CORE_ROOMS.index(room) if rest else len(CORE_ROOMS)


def find_unknown_rooms(graph):
    rooms = {path.removeprefix(CORE).split("/")[0] for path in graph if path.startswith(CORE) and "/" in
             path.removeprefix(CORE)}
    return sorted(rooms - set(CORE_ROOMS))


def check_rooms(root, graph):
    """Yields violations of the order of the core's rooms, one line each."""
    if unknown := find_unknown_rooms(graph):
        yield f"{CORE}{unknown[0]}: a room that CORE_ROOMS of scripts/check_layers.py does not name"
        return
    up = {(path, included) for path, includes in graph.items() for included in includes
          if path.startswith(CORE) and included.startswith(CORE) and floor_of(path) < floor_of(included)}
    listing = root / UP_CALLS
    lines = listing.read_text(encoding="utf-8").splitlines() if listing.is_file() else []
    listed = {tuple(line.split()) for line in lines if line and not line.startswith("#")}
    for path, included in sorted(up):
        if path.endswith(".h"):
            yield f"{path}: a header may not include {included}, of a room above its own"
        elif (path, included) not in listed:
            yield f"{path}: calls upward into {included}, which {UP_CALLS} does not list"
    for path, included in sorted(listed - up):
        yield f"{UP_CALLS}: {path} no longer includes {included}; remove the line"


def room_floor(folder, path):
    """The index of the room of `folder` that `path` is in; None if its rooms do not order it."""
    room, _, rest = path.removeprefix(folder).partition("/")
    if not rest:
        return -1 if folder in FILES_BELOW_ROOMS else len(ROOMS[folder])
    return ROOMS[folder].index(room) if room in ROOMS[folder] else None


def check_other_rooms(graph):
    """Yields violations of ROOMS and MOST_FILES, one line each."""
    for folder in ROOMS:
        files = collections.Counter()
        for path in (path for path in graph if path.startswith(folder)):
            files[str(pathlib.PurePosixPath(path).parent)] += 1
            floor = room_floor(folder, path)
            for included in graph[path]:
                other = room_floor(folder, included) if included.startswith(folder) else None
                if floor is not None and other is not None and other > floor:
                    yield f"{path}: may not include {included}, of a room above its own"
        for room, count in files.items():
            if count > MOST_FILES:
                yield f"{room}: {count} files; a room has at most {MOST_FILES}"


def find_cycle(graph):
    """A list of files of which each includes the next and the last is the first, or None."""
    done, path = set(), []

    def visit(file):
        if file in path:
            return path[path.index(file):] + [file]
        if file in done:
            return None
        path.append(file)
        for included in graph.get(file, ()):
            if found := visit(included):
                return found
        path.pop()
        done.add(file)
        return None

    return next((found for file in sorted(graph) if (found := visit(file))), None)


def check(root):
    """Yields problems, one line each."""
    graph = read_includes(root)
    for path, includes in graph.items():
        for included in includes:
            if not exists(root, included):
                yield f'{path}: "{included}" is not a file; includes are written from the root'
            elif not allowed(path, included):
                yield f"{path}: the layer {layer_of(path)} may not include {included}"
    yield from check_rooms(root, graph)
    yield from check_other_rooms(graph)
    if cycle := find_cycle(graph):
        yield "a circle: " + " -> ".join(cycle)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    problems = list(check(root))
    for problem in problems:
        print(problem)
    print(f"{len(read_includes(root))} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
