// Files that are executed cannot be written, and the reverse (ETXTBSY). The kernel, which executes the core, does not
// see to it.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Live: the call, an open whose path is argument `slot`, would open the file of a program of the tree for writing.
bool opens_executed(const Call& call, int slot);
// What such a call returns.
long text_busy(Call& call);

// True if somebody has the file behind `fd` open for writing: then nobody gets a lease (fcntl(2)), which lasts until
// `fd` is closed. False also if that cannot be known, for it is another user's.
bool is_being_written(long fd);

}  // namespace reweave::core
