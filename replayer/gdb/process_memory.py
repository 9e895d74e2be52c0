"""A copy of the memory that a stopped process can change, to be put back later."""

import os
import struct

PAGE = os.sysconf("SC_PAGE_SIZE")
PRESENT_OR_SWAPPED = 3 << 62  # bits of an entry of /proc/PID/pagemap
MOST_FILE_BYTES = 16 << 20  # private file mappings up to this size are kept with their untouched pages


class Region:
    """A writable mapping: where it is, and whether untouched pages of it are zero."""

    def __init__(self, start, end, is_file):
        self.start, self.end, self.is_file = start, end, is_file


def writable_regions(pid, is_wanted):
    """The writable mappings whose start `is_wanted`."""
    with open("/proc/%d/maps" % pid) as maps:
        for line in maps:
            places, rights, _, _, inode, *_ = line.split()
            start, end = (int(place, 16) for place in places.split("-"))
            if rights[0] == "r" and rights[1] == "w" and is_wanted(start):
                yield Region(start, end, inode != "0")


def populated_runs(pagemap, region):
    """(address, bytes) of each run of pages that the process has touched; for small mappings of files, all pages."""
    count = (region.end - region.start) // PAGE
    if region.is_file and region.end - region.start <= MOST_FILE_BYTES:
        return [(region.start, count * PAGE)]
    data = os.pread(pagemap, count * 8, region.start // PAGE * 8)
    runs, begun = [], None
    for index, (entry,) in enumerate(struct.iter_unpack("<Q", data)):
        there = entry & PRESENT_OR_SWAPPED != 0
        if there and begun is None:
            begun = index
        if not there and begun is not None:
            runs.append((region.start + begun * PAGE, (index - begun) * PAGE))
            begun = None
    if begun is not None:
        runs.append((region.start + begun * PAGE, (count - begun) * PAGE))
    return runs


class Snapshot:
    """The contents of the writable mappings of a process that gdb has stopped. `words`: more pieces of memory to
    keep, as (address, bytes)."""

    def __init__(self, pid, is_wanted, words):
        self.pid = pid
        self.regions = list(writable_regions(pid, is_wanted))
        self.runs = {}
        self.words = []
        with self.opened("mem", os.O_RDONLY) as memory, self.opened("pagemap", os.O_RDONLY) as pagemap:
            for region in self.regions:
                self.runs[region] = [(at, os.pread(memory.fd, size, at))
                                     for at, size in populated_runs(pagemap.fd, region)]
            self.words = [(at, os.pread(memory.fd, size, at)) for at, size in words]

    def opened(self, name, flags):
        return OpenFile("/proc/%d/%s" % (self.pid, name), flags)

    def put_back(self):
        with self.opened("mem", os.O_RDWR) as memory, self.opened("pagemap", os.O_RDONLY) as pagemap:
            for region in self.regions:
                kept = set()
                for at, data in self.runs[region]:
                    kept.update(range(at, at + len(data), PAGE))
                    put_run_back(memory.fd, at, data)
                if not region.is_file:
                    clear_new_pages(memory.fd, populated_runs(pagemap.fd, region), kept)
            for at, data in self.words:
                os.pwrite(memory.fd, data, at)


class OpenFile:
    """An open file that a `with` statement closes."""

    def __init__(self, path, flags):
        self.fd = os.open(path, flags | os.O_CLOEXEC)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)


def write_memory(pid, address, data):
    """Writes memory without gdb, which would report the change to its user."""
    with OpenFile("/proc/%d/mem" % pid, os.O_RDWR) as memory:
        os.pwrite(memory.fd, data, address)


def put_run_back(memory, at, data):
    present = os.pread(memory, len(data), at)
    if present == data:
        return
    for offset in range(0, len(data), PAGE):
        page = data[offset:offset + PAGE]
        if present[offset:offset + PAGE] != page:
            os.pwrite(memory, page, at + offset)


def clear_new_pages(memory, runs, kept):
    for at, size in runs:
        for page in range(at, at + size, PAGE):
            if page not in kept and any(os.pread(memory, PAGE, page)):
                os.pwrite(memory, bytes(PAGE), page)
