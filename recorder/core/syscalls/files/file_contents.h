// Contents of mapped files in the log: of those that a replay cannot rely on (stand_in.h), and of small ones, which
// cost less there than as a copy in the recording that the thread waits for.
#pragma once

#include <sys/stat.h>

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// The size of a file, or of a block device.
std::uint64_t file_bytes(long fd, const struct stat& status);

struct Extent {
  std::uint64_t start, end;
};

// What lies between holes next, of [from, end) of the file `fd`, whose position moves; empty: no more.
Extent next_data(long fd, std::uint64_t from, std::uint64_t end);

// Recording: logs what is in [offset, offset + bytes) of the file behind `fd`; holes are left out.
void log_contents(long fd, std::uint64_t offset, std::uint64_t bytes);

// Explored run: the same of a part of a file of ours, which begins at `base` of `fd`.
void log_part(long fd, std::uint64_t base, std::uint64_t offset, std::uint64_t bytes);

// Recording: logs the first `bytes` of a file that has hardly any holes: all of it, for a mapping that grows shows
// more.
void log_small_file(long fd, std::uint64_t bytes);
// The same, when they were read.
void log_small_file(const std::byte* data, std::uint64_t bytes);

// Recording: the same for what is mapped at `start` and readable, which shows the object from `offset` on.
void log_memory(std::uint64_t start, std::uint64_t bytes, std::uint64_t offset = 0);

// Replay: consumes what either logged and writes it to the file `fd`, all `base` bytes further on.
void take_contents(long fd, std::uint64_t base);

// Replay: finds `bytes` at a page of a file that others are in too, open as kContentsFd; returns where they begin. A
// file each would cost more than all the rest of mapping it.
std::uint64_t room_for_contents(std::uint64_t bytes);

// Explored run: writes what was logged behind `mapping` to the file `fd`, all `base` bytes further on, or only where
// that has holes.
void copy_contents(const wire::MapFileRecord& mapping, long fd, std::uint64_t base, bool only_holes);

}  // namespace reweave::core
