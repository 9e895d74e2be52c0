#!/usr/bin/env python3
"""Compares our functions with those that ThreadSanitizer's runtimes export. A program linked with a runtime gets our
library in its place. A function that ours lacks is then missing, or the loader finds a wrong version elsewhere.

    runtime_names_check.py SHIM TSAN_SHIM [RUNTIME...]

Without RUNTIME, takes the runtimes of this machine's compilers: gcc's library, and clang's in a program linked with it.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

# Patterns of names that we must not define, by reason.
EXEMPT = {
    "the loader's own, in one version": r"__tls_get_addr",
    "the runtime's C++ functions, which programs define to be called by it": r"_ZN(6__tsan|7__ubsan|11__sanitizer).*",
    "another runtime's, which the program loads beside it, or has in itself": r"__ubsan_.*",
    "the symbolizer inside the runtime, in no header": r"__asan_.*",
    "of a kind of coverage that gcc cannot instrument for": r"__sancov_lowest_stack",
}


def defined(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in listing.splitlines()}


def runtimes(folder):
    """Yields the path of a file that contains ThreadSanitizer's runtime, for each compiler on this machine."""
    source = pathlib.Path(folder) / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    for compiler in ("gcc", "clang"):
        program = source.with_suffix("." + compiler)
        try:
            subprocess.run([compiler, "-fsanitize=thread", source, "-o", program], check=True)
        except FileNotFoundError:
            continue
        if compiler == "clang":
            yield program
        else:
            yield subprocess.run([compiler, "-print-file-name=libtsan.so"], check=True, capture_output=True,
                                 text=True).stdout.strip()


def missing(runtime, ours):
    exempt = re.compile("|".join(EXEMPT.values()))
    names = {name for name in defined(runtime) if not exempt.fullmatch(name)}
    if "pthread_cond_init" not in names or "__tsan_read8" not in names:
        sys.exit(f"{runtime}: no runtime of ThreadSanitizer")
    return sorted(names - ours), len(names)


def main():
    shim, tsan_shim, *given = sys.argv[1:]
    ours = defined(shim) | defined(tsan_shim)
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        for runtime in given or runtimes(folder):
            # The program itself defines these: its entry points, and names that the linker creates.
            names, count = missing(runtime, ours | {"_init", "_fini", "_start", "main", "_IO_stdin_used", "__data_start",
                                                    "data_start", "_edata", "_end", "__bss_start", "__dso_handle"})
            print(f"{runtime}: {count} names, {len(names)} missing")
            print("".join(f"  {name}\n" for name in names), end="")
            status |= bool(names)
    return status


if __name__ == "__main__":
    sys.exit(main())
