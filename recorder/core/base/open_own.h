// Descriptors of our own.
#pragma once

namespace reweave::core {

// Opens a file for us, by a path from a folder (openat(2)). That the program has used up its descriptors does not
// count, if the limit can be raised for a moment.
long open_own(long folder, const char* path, long flags);

}  // namespace reweave::core
