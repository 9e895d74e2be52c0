// Files that the program can change while they are mapped: shared memory objects, memfds, deleted files, databases.
//
// The file itself is not there when replaying, or not as it was. Its contents are logged when it is mapped; replay
// maps memory of the arena in its place, the same for every process that maps the same file. What the program writes
// through descriptors afterwards is an output of the writing call.
#pragma once

#include "recorder/core/dispatch.h"
#include "recorder/core/syscalls/map_file.h"

namespace reweave::core {

// Recording: logs what is in [offset, offset + bytes) of the file behind `fd`; holes are left out.
void log_contents(long fd, std::uint64_t offset, std::uint64_t bytes);

// Recording: the same for shared memory without a descriptor, of which all is mapped at `start`.
void log_memory(std::uint64_t start, std::uint64_t bytes);

// Replay: consumes what log_contents logged and maps the stand-in of `file`.
void map_stand_in(const FileIdentity& file, std::uint64_t start, std::uint64_t bytes, long prot, long flags,
                  long offset);

// Recording: the parts of shared mappings of this process that a write to a descriptor just changed.
std::uint32_t mapped_outputs(const Call& call, long result, Output* to);

}  // namespace reweave::core
