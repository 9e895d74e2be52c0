// Contents of mapped files in the log: of files that a replay cannot rely on (stand_in.h), and of small files, because
// logging them is cheaper than a copy in the recording, for which the thread has to wait.
#pragma once

#include <sys/stat.h>

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// The size of a file, or of a block device.
std::uint64_t file_bytes(long fd, const struct stat& status);

struct Extent {
  std::uint64_t start, end;
};

// The next data between holes in [from, end) of the file `fd`; moves its position. Empty if there is no more.
Extent next_data(long fd, std::uint64_t from, std::uint64_t end);

// Recording: logs the contents of [offset, offset + bytes) of the file behind `fd` without holes.
void log_contents(long fd, std::uint64_t offset, std::uint64_t bytes);

// Explored run: does the same for a file that the core keeps in `fd`, from offset `base` on.
void log_part(long fd, std::uint64_t base, std::uint64_t offset, std::uint64_t bytes);

// Recording: logs the first `bytes` of a file with hardly any holes. The whole file is logged, because a mapping may be
// extended.
void log_small_file(long fd, std::uint64_t bytes);
// Logs a small file whose data was already read.
void log_small_file(const std::byte* data, std::uint64_t bytes);

// Recording: logs `bytes` of readable memory at `start`, which maps an object from `offset` on. Leaves out pages of
// zeros.
void log_memory(std::uint64_t start, std::uint64_t bytes, std::uint64_t offset = 0);

// Replay: consumes what one of these functions logged and writes it to the file `fd`, at the logged offsets plus
// `base`.
void take_contents(long fd, std::uint64_t base);

// Replay: finds page-aligned room for `bytes` in a file shared with others, open as kContentsFd; returns its offset. A
// file for each mapping would cost more than all other work for the mapping.
std::uint64_t room_for_contents(std::uint64_t bytes);

// Explored run: writes what was logged after `mapping` to the file `fd`, at the logged offsets plus `base`; with
// `only_holes`, only where `fd` has holes.
void copy_contents(const wire::MapFileRecord& mapping, long fd, std::uint64_t base, bool only_holes);

}  // namespace reweave::core
