"""Shows gdb the library that was loaded in place of ThreadSanitizer's runtime.

The loader was given our stand-in when it opened libtsan.so, so that name is in the process's list of libraries, and gdb
would read the symbols of the real one for it. gdb has no setting for a single library; so it looks for libraries in a
folder that is the root folder, through symbolic links, but for that one file. With LD_LIBRARY_PATH the loader may have
asked for it where there is no such file; those gdb finds by name in a second folder.
"""

import os
import re
import shutil
import subprocess
import tempfile

import gdb


NAMES = ("libtsan.so.0", "libtsan.so.1", "libtsan.so.2", "libclang_rt.tsan-x86_64.so")


def loader_paths():
    """Where the loader finds ThreadSanitizer's runtimes."""
    try:
        cache = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return []
    return re.findall(r"(?m)^\s*libtsan\.so\S* \(.*x86-64.*\) => (/\S+)$", cache)


def link_siblings(source, target, but):
    for name in os.listdir(source):
        if name != but:
            os.symlink(os.path.join(source, name), os.path.join(target, name))


class StandIn:
    """The folders; removed by `end`."""

    def __init__(self):
        self.root = None

    def install(self, library):
        if self.root is not None:
            return
        self.root = tempfile.mkdtemp(prefix="reweave-gdb-")
        by_name = os.path.join(self.root, "by-name")
        os.mkdir(by_name)
        for name in NAMES:
            os.symlink(library, os.path.join(by_name, name))
        gdb.execute("set solib-search-path " + by_name, to_string=True)
        paths = loader_paths()
        if paths:
            self.build(paths[0], library)  # the newest, if there are several
            gdb.execute("set sysroot " + os.path.join(self.root, "root"), to_string=True)

    def build(self, path, library):
        """Makes the folder that is the root folder but for `path`, which is `library`."""
        source, target = "/", os.path.join(self.root, "root")
        os.mkdir(target)
        *folders, name = path.strip("/").split("/")
        for folder in folders:
            link_siblings(source, target, folder)
            source, target = os.path.join(source, folder), os.path.join(target, folder)
            os.mkdir(target)
        link_siblings(source, target, name)
        os.symlink(library, os.path.join(target, name))

    def end(self):
        if self.root is not None:
            shutil.rmtree(self.root, ignore_errors=True)
            self.root = None
