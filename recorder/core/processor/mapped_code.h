// Searches code that a program maps for instructions that must not be left to the processor, and replaces them. Their
// places are logged, because searching a large library takes long, and longer if its pages are not in memory yet.
#pragma once

#include "recorder/core/syscalls/files/map_file.h"

namespace reweave::core {

// The code that made the mapping. Code other than the loader may be a translator (valgrind), which reads code and
// executes a translation. Replacements that would confuse it are left out.
enum class MappedBy { kLoader, kOther };

// `file`, from `offset` on, was mapped from `start` to `end` as a region of the address space. If it is code, the
// thread's next record lists what was found.
void take_mapped_code(std::uint64_t start, std::uint64_t end, MappedBy by, const FileIdentity& file,
                      std::uint64_t offset);

}  // namespace reweave::core
