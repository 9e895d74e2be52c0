// Large files that cannot change while the supervisor holds a lease on them (fcntl(2), F_SETLEASE). For a read of such
// a file the core logs only the file and the offset, and the supervisor takes the data from the file itself. So a
// program that reads gigabytes is not held up by copying.
//
// When a process wants to write to the file, the kernel makes it wait. The supervisor marks the file as changing, waits
// until no thread is about to log a reference to it, copies the data referred to, and releases the lease. A thread that
// finds the mark after its read logs the data.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

inline constexpr std::uint64_t kLeastKeptFile = 1 << 20;  // the smallest file that is worth a lease

// Live, with the baton: logs a call that read `result` bytes into `output`; by reference if the file is kept, otherwise
// with the data.
void log_file_read(Call& call, long result, const Output& output);
// True if what the call has read can be logged by reference.
bool reads_kept_file(const Call& call, long result);

}  // namespace reweave::core
