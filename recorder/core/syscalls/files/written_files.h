// Recording: files that a process of the tree has opened for writing. Such a file, even if mapped read-only, may still
// change through that descriptor or another mapping.
//
// Thread rule: the baton holder only.
#pragma once

#include <cstdint>

namespace reweave::core {

// Notes the file opened for writing as `fd`, if it is a regular file.
void note_written_file(long fd);

// True if the file was noted. Rarely also true for other files (a Bloom filter).
bool is_written_file(std::uint64_t device, std::uint64_t inode);

}  // namespace reweave::core
