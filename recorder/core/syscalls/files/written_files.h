// Recording: files that somebody in the tree has opened for writing. One that is mapped, be it to read only, may yet
// change through such a descriptor, or through another mapping.
//
// Thread rule: with the baton.
#pragma once

#include <cstdint>

namespace reweave::core {

// The file that was opened for writing as `fd`, if it is a regular file.
void note_written_file(long fd);

// True if the file was noted; seldom, if another was.
bool is_written_file(std::uint64_t device, std::uint64_t inode);

}  // namespace reweave::core
