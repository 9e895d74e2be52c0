// Hashes of writable memory: of all of it, and of each page.
//
// Thread rule: the baton holder, of its own process.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

struct Region;
enum class HashedMemory {
  kPrivate,  // the process's own
  kOfTree,   // the same, and what it shares with others of the tree alone; but no code, where our traps are
};
bool is_hashed(const Region& region, HashedMemory which);

// The word at `address` does not count in hashes from now on: what it holds depends on how the run is carried out.
void leave_out_of_hashes(std::uint64_t address);

// A part of the hash of one page; 0 if all of the page is.
using PageMark = std::uint16_t;
PageMark page_mark(std::uint64_t at);

struct MemoryHash {
  std::uint64_t all;         // never 0
  std::uint64_t but_stacks;  // of all pages but those of threads' stacks, where a trace's own functions leave other
                             // values than the program has there
  std::uint64_t pages;
};
// At `marks`, unless null, the pages' own in turn.
MemoryHash hash_memory(HashedMemory which, PageMark* marks = nullptr);

struct PageMarks {
  const PageMark *begin, *end;
};
// A page that has another mark, with the index of its mark; `at` is 0 if there is none.
struct OtherPage {
  std::uint64_t at, index;
};
OtherPage find_other_page(HashedMemory which, PageMarks marks, bool but_stacks);

}  // namespace reweave::core
