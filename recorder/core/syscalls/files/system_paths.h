// The names of files in calls, and which of them belong to the system: files of its packages and its configuration
// hardly ever change, so they are as they were when the program was recorded.
#pragma once

#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

// By its name. If processes have different roots, such names may refer to any file: false.
bool belongs_to_system(const char* path);

// The first argument that is a path or name, as the program gave it. The call has one.
inline const char* first_path(const Call& call) {
  return reinterpret_cast<const char*>(call.logged[__builtin_ctz(call.row->paths)]);
}

}  // namespace reweave::core
