// The names of files in calls, and which of them belong to the system: files of its packages and its configuration
// hardly ever change, so they are as they were when the program was recorded.
#pragma once

#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

// Decides by the name. False if processes have different roots, because such names may then refer to any file.
bool belongs_to_system(const char* path);

// The first argument that is a path or name, as the program gave it. The call has one.
inline const char* first_path(const Call& call) {
  return reinterpret_cast<const char*>(call.logged[__builtin_ctz(call.row->paths)]);
}

}  // namespace reweave::core
