// Tracks which threads share descriptors: all threads of a process, and of processes created with CLONE_FILES, until
// the kernel gives a thread a table of its own (clone(2), unshare(2), close_range(2), execve(2)). A table is free if no
// live thread has it.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

inline FdTable& table_of(const Thread& thread) { return state().fd_tables[thread.fd_table]; }

struct FdTableSet {
  std::uint64_t words[kMaxFdTables / 64] = {};
  // False: it was in the set already.
  bool add(std::uint32_t index) {
    const std::uint64_t bit = std::uint64_t{1} << (index & 63);
    const bool was = (words[index / 64] & bit) != 0;
    words[index / 64] |= bit;
    return !was;
  }
};

// Gives the new thread the descriptors of `from`, or copies of them.
void give_descriptors(const Thread& from, Thread& to, bool shared);
// Gives the calling thread copies of the descriptors that it shared.
void unshare_descriptors();

}  // namespace reweave::core
