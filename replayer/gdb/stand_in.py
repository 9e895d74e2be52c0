"""Shows gdb the files that the process really maps, where they differ from the machine's own.

There are two kinds. The recording may hold copies of programs and libraries. And when the loader opened libtsan.so, it
was given our library; the process's list of libraries has the name libtsan.so, for which gdb would read the symbols of
the real one.

gdb cannot be told to replace a single file. So it gets a root folder made of symbolic links to the real one, except for
those files. Files that it does not find there (because a link is missing, or LD_LIBRARY_PATH led the loader elsewhere),
it finds by name in a second folder. A third folder has the recording's separate debug information.
"""

import os
import re
import shutil
import subprocess
import tempfile

import gdb


MAX_LINKS = 40  # links followed on the way to a file; the kernel's limit
NAMES = ("libtsan.so.0", "libtsan.so.1", "libtsan.so.2", "libclang_rt.tsan-x86_64.so")


def loader_path():
    """The path at which the loader finds the newest of ThreadSanitizer's runtimes, in a list; an empty list if there
    is none."""
    try:
        cache = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    return re.findall(r"(?m)^\s*libtsan\.so\S* \(.*x86-64.*\) => (/\S+)$", cache)[:1]


def link_all(source, target):
    """Links everything in the folder `source` into `target`; relative links are copied as they are."""
    try:
        names = os.listdir(source)
    except OSError:
        return
    for name in names:
        path = os.path.join(source, name)
        relative = os.path.islink(path) and not os.readlink(path).startswith("/")
        os.symlink(os.readlink(path) if relative else path, os.path.join(target, name))


def replace(path, by):
    if os.path.lexists(path):
        os.remove(path)
    os.symlink(by, path)


class StandIn:
    """The folders; removed by `end`."""

    def __init__(self):
        self.folder = None
        self.copies = {}

    def install(self, place):
        """Shows gdb the `copies`, `tsan` and debug files of `place`, the helper's announcement."""
        if self.folder is not None or not (place["tsan"] or place["copies"] or place["debug_files"]):
            return
        self.folder = tempfile.mkdtemp(prefix="reweave-gdb-")
        by_name, debug = self.make("by-name"), self.make("debug/.build-id")
        self.copies = {path: stored for path, stored, _ in place["copies"]}
        replaced = dict(self.copies)
        for path, stored, soname in place["copies"]:
            for name in {os.path.basename(path), soname} - {""}:
                replace(os.path.join(by_name, name), stored)
        if place["tsan"]:
            replaced.update({path: place["tsan"] for path in loader_path()})
            for name in NAMES:
                replace(os.path.join(by_name, name), place["tsan"])
        for build_id, stored in place["debug_files"].items():
            os.makedirs(os.path.join(debug, build_id[:2]), exist_ok=True)
            replace(os.path.join(debug, build_id[:2], build_id[2:] + ".debug"), stored)
        root = self.make("root")
        link_all("/", root)
        for path, by in replaced.items():
            self.show(path, by)
        gdb.execute("set debug-file-directory %s:%s" % (os.path.dirname(debug),
                                                         gdb.parameter("debug-file-directory")), to_string=True)
        gdb.execute("set solib-search-path " + by_name, to_string=True)
        gdb.execute("set sysroot " + root, to_string=True)

    def make(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(path)
        return path

    def show(self, path, by, links=0):
        """Makes `by` appear as the file `path` in gdb's root folder. Each folder on the way becomes one of our own."""
        target = root = os.path.join(self.folder, "root")
        *folders, name = path.strip("/").split("/")
        for depth, folder in enumerate(folders):
            target = os.path.join(target, folder)
            if os.path.islink(target):
                source = os.readlink(target)
                if not source.startswith("/"):  # such as lib, for usr/lib
                    behind = os.path.normpath(os.path.join(os.path.dirname(target), source))
                    if behind.startswith(root + "/") and links < MAX_LINKS:
                        self.show(os.path.join(os.path.relpath(behind, root), *folders[depth + 1:], name), by, links + 1)
                    return
                self.open_folder(target)
            elif not os.path.isdir(target):
                os.mkdir(target)
        replace(os.path.join(target, name), by)

    @staticmethod
    def open_folder(target):
        """Replaces `target`, a link to a folder, by a folder of links."""
        source = os.readlink(target)
        os.remove(target)
        os.mkdir(target)
        link_all(source, target)

    def program(self, path):
        """The path at which gdb reads the program `path`."""
        return self.copies.get(path, path)

    def end(self):
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None
