// Large files that nobody may change while we hold a lease on them (fcntl(2), F_SETLEASE): of what is read from them
// the recording gets file and offset only, and the supervisor takes the data from the file itself. So a program that
// reads gigabytes is not held up by copying them.
//
// The supervisor holds the lease. When somebody wants to write to the file, the kernel makes him wait, the supervisor
// marks the file as changing, waits until no thread is about to log a reference to it, takes what is referred to, and
// lets go. A thread that finds the mark after its read logs the data.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

inline constexpr std::uint64_t kLeastKeptFile = 1 << 20;  // bytes of a file that are worth a lease

// Live, with the baton: logs a call that read `result` bytes into `output`, by reference if the file is kept, or else
// with its data.
void log_file_read(Call& call, long result, const Output& output);
// True if what the call has read may be had by reference.
bool reads_kept_file(const Call& call, long result);

}  // namespace reweave::core
