// Opens files for the core's own use.
#pragma once

namespace reweave::core {

// Opens a file for the core, by a path relative to `folder` (openat(2)). If the program has used up its descriptors,
// the limit is raised for the duration of the call, where possible.
long open_own(long folder, const char* path, long flags);

}  // namespace reweave::core
