// Paths and other names in system calls, logged with them. With these names, an explored run finds the answer recorded
// for the same file rather than for the same thread.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

struct NamedText {
  wire::NamedFiles files;
  char text[2 * 4096];  // PATH_MAX each
  std::uint64_t bytes() const { return sizeof files + files.text_bytes; }
};

// The names in `call`, which ended with `result`. Null: it has none, or they are not in readable memory. Valid until
// the next use of this function. Thread rule: the baton holder only.
const NamedText* names_of(const Call& call, long result);

// The names logged with a recorded call; null if there are none.
const wire::NamedFiles* recorded_names(const wire::SyscallRecord& record);

}  // namespace reweave::core
