// What system calls name, as it is logged with them: by that an explored run finds the answer for the file that it
// asks for, not the one for the thread that asks.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

struct NamedText {
  wire::NamedFiles files;
  char text[2 * 4096];  // PATH_MAX each
  std::uint64_t bytes() const { return sizeof files + files.text_bytes; }
};

// What `call`, which ended with `result`, named. Null: nothing, or what is not there. Valid until the next call of
// this; the caller holds the baton.
const NamedText* names_of(const Call& call, long result);

// The names that a recorded call was logged with; null: it has none.
const wire::NamedFiles* recorded_names(const wire::SyscallRecord& record);

}  // namespace reweave::core
