// Code that a program maps, and what in it cannot be left to the processor: it is looked for, replaced, and logged
// where it was, for to look through a large library takes long, and longer if it is not in memory yet.
#pragma once

#include "recorder/core/syscalls/files/map_file.h"

namespace reweave::core {

// Who mapped it. Other programs than the loader may be translators (valgrind), which read the code and execute what
// they make of it: they are left all that they would take amiss.
enum class MappedBy { kLoader, kOther };

// `file`, from `offset` on, was mapped from `start` to `end`, as a region of the address space; the next record of the
// thread tells what was found if it is code.
void take_mapped_code(std::uint64_t start, std::uint64_t end, MappedBy by, const FileIdentity& file,
                      std::uint64_t offset);

}  // namespace reweave::core
