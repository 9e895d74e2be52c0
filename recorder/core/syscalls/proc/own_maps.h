// /proc/PID/maps and smaps of the tree's processes without the core's memory: programs that parse them see what they
// would see natively.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// True if `path` names the list of mappings of a process of the tree.
bool is_own_maps(const char* path);
// Recording: a descriptor of a copy of that file without the core's lines, or an error.
long open_own_maps(const char* path, long flags);

// Updates what a descriptor of open_own_maps shows.
void refresh_own_maps(long fd, const char* path);

}  // namespace reweave::core
