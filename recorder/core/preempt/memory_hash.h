// Hashes of writable memory, of all of it and of each page.
//
// Thread rule: the baton holder, for its own process.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

struct Region;
enum class HashedMemory {
  kPrivate,  // the process's own
  kOfTree,  // the same, and memory shared only within the tree; without executable memory, which holds the core's traps
};
bool is_hashed(const Region& region, HashedMemory which);

// Excludes the word at `address` from hashes, because its value depends on how the run is carried out.
void leave_out_of_hashes(std::uint64_t address);

// Part of the hash of one page; 0 if the whole hash is 0.
using PageMark = std::uint16_t;
PageMark page_mark(std::uint64_t at);

struct MemoryHash {
  std::uint64_t all;         // never 0
  std::uint64_t but_stacks;  // without the pages of threads' stacks, where the trace's own functions leave values that
                             // the program alone would not
  std::uint64_t pages;
};
// Stores each page's mark at `marks`, unless null, in order.
MemoryHash hash_memory(HashedMemory which, PageMark* marks = nullptr);

struct PageMarks {
  const PageMark *begin, *end;
};
// A page whose mark differs, with the index of that mark; `at` is 0 if there is none.
struct OtherPage {
  std::uint64_t at, index;
};
OtherPage find_other_page(HashedMemory which, PageMarks marks, bool but_stacks);

}  // namespace reweave::core
