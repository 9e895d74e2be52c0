// What the runtime knows of the target's descriptors: whether a call on one may block, and which of them lead to
// the first process's standard output and error. Kept in the arena, for it must survive exec.
#pragma once

#include "recorder/core/context.h"

namespace reweave::core {

// True for descriptors that the supervisor gave us and the target may not see.
inline bool is_our_fd(long fd) { return fd >= kArenaFd && fd < kArenaFd + kReservedFds; }

// Recording only: asks the kernel what `fd` is, the first time.
bool fd_may_block(long fd);
// wire::kWritesStdout, wire::kWritesStderr or 0.
std::uint32_t fd_stream(long fd);
// `fd` is now something new.
void forget_fd(long fd);
// `to` is now the same as `from`.
void copy_fd(long from, long to);
// The first process: descriptors 1 and 2.
void mark_standard_streams();

}  // namespace reweave::core
