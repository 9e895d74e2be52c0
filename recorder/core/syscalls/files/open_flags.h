// The flags of a call that opens a file: open, creat, openat, openat2, open_by_handle_at.
#pragma once

#include <fcntl.h>

#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

// O_ flags. openat2 has them in memory: a fault there fails the call.
inline long open_flags(const Call& call) {
  if (call.row->at.flags < 0) return O_WRONLY | O_CREAT | O_TRUNC;  // creat
  const long word = call.args[call.row->at.flags];
  return (call.row->flags & kFlagsInMemory) != 0 ? *reinterpret_cast<const long*>(word) : word;
}

}  // namespace reweave::core
