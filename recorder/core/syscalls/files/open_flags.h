// The flags of a call that opens a file: open, creat, openat, openat2, open_by_handle_at.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// O_ bits. openat2 has them in memory: a fault of the core's there is one of the call's.
inline long open_flags(const Call& call) {
  if (call.number == SYS_creat) return O_WRONLY | O_CREAT | O_TRUNC;
  const long word = call.args[call.number == SYS_open ? 1 : 2];
  return call.number == SYS_openat2 ? *reinterpret_cast<const long*>(word) : word;
}

}  // namespace reweave::core
