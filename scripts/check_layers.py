#!/usr/bin/env python3
"""Checks who includes whom: folders are layers, and no includes go round in a circle.

    scripts/check_layers.py [ROOT]

LAYERS is the rule (docs/architecture.md says why). The longest folder that a file is in decides. Exit status 1 if a
file breaks it.
"""
import pathlib
import re
import sys

# What the code inside the target may include besides its own folder: no library, nothing that allocates.
IN_PROCESS = ("formats/wire.h", "formats/event.h", "recorder/arena.h", "recorder/runtime_state.h", "recorder/policy.h",
              "recorder/core_api.h", "recorder/elf_symbols.h", "recorder/guard.h", "recorder/observation.h",
              "recorder/stack_cache.h", "recorder/system_files.h", "recorder/fp_layout.h", "recorder/own_files.h")
# "x/" allows all below x, "x/*" the files directly in x, anything else that one file. Own folder always.
LAYERS = {
    "formats/": (),
    "recorder/": ("formats/wire.h", "formats/event.h"),
    "recorder/core/": IN_PROCESS,
    "recorder/shim/": IN_PROCESS,
    "explorer/strategies/": IN_PROCESS,
    # The rows are data, from which the names of calls derive.
    "recorder/supervisor/": ("formats/", "recorder/*", "recorder/core/syscalls/rows.inc"),
    "replayer/": ("formats/", "recorder/policy.h", "recorder/supervisor/"),
    "predictor/": ("formats/",),
    "explorer/": ("formats/", "recorder/*", "recorder/supervisor/", "replayer/", "predictor/"),
}
# Folders whose own rule is "the files directly in it": their subfolders are layers of their own.
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
    """{file: [what it includes]} for every source below the layers."""
    files = sorted(p for layer in LAYERS for p in root.glob(layer + "**/*") if p.suffix in SUFFIXES and p.is_file())
    return {p.relative_to(root).as_posix(): INCLUDE.findall(p.read_text(encoding="utf-8")) for p in files}


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
    """Yields what is wrong, one line each."""
    graph = read_includes(root)
    for path, includes in graph.items():
        for included in includes:
            if not exists(root, included):
                yield f'{path}: "{included}" is not a file; includes are written from the root'
            elif not allowed(path, included):
                yield f"{path}: the layer {layer_of(path)} may not include {included}"
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
