// Files being executed cannot be opened for writing, and files open for writing cannot be executed (ETXTBSY). The
// kernel does not enforce this for the target's programs, because it only sees the core being executed.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Live: true if the call, an open of the path in argument `slot`, would open a program of the tree for writing.
bool opens_executed(const Call& call, int slot);
// Completes such a call with ETXTBSY.
long text_busy(Call& call);

// True if the file behind `fd` is open for writing: then the kernel grants no lease on it (fcntl(2)). Otherwise `fd`
// holds the lease until it is closed. Also false if the kernel does not tell, because the file belongs to another user.
bool is_being_written(long fd);

}  // namespace reweave::core
