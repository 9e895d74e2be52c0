// /proc/PID/maps and smaps of the tree's processes without the runtime's own memory: programs that parse them see what
// they see natively.
#pragma once

#include "recorder/core/context.h"

namespace reweave::core {

// True if `path` names the list of mappings of a process of the tree.
bool is_own_maps(const char* path);
// Recording: a descriptor of a copy of that file without our lines, or an error.
long open_own_maps(const char* path, long flags);

}  // namespace reweave::core
