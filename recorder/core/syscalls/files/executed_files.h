// Files being executed cannot be opened for writing, and files open for writing cannot be executed (ETXTBSY). The
// kernel, which executes the core, does not enforce this.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Live: true if the call, an open of the path in argument `slot`, would open a program of the tree for writing.
bool opens_executed(const Call& call, int slot);
// Completes such a call with its error.
long text_busy(Call& call);

// True if the file behind `fd` is open for writing: then no lease on it is granted (fcntl(2)). A lease that is granted
// lasts until `fd` is closed. False also if it is unknown because the file belongs to another user.
bool is_being_written(long fd);

}  // namespace reweave::core
