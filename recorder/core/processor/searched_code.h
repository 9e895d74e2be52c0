// Places in code with byte pairs that few instructions have (code_search.h), as found earlier by any process of the
// tree. Every program maps the C library, and searching it takes a sixth of the time that a process needs to start.
// Thread rule: the baton holder only.
#pragma once

#include <sys/mman.h>

#include "recorder/core/code/code_search.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/syscalls/files/map_file.h"

namespace reweave::core {

// A name for the part of `file` at `offset`, always the same for the same bytes. 0: it cannot be named reliably, or
// this run is not a recording.
std::uint64_t name_of_code(const FileIdentity& file, std::uint64_t offset, std::uint64_t bytes);

// The search results for the code of that name, which is now at `start`; null if there are none.
const SearchedCode* searched_code(std::uint64_t name, std::uint64_t start);

// Calls `use` with each place in [first, last) of the code at `start`, in order. If another process has searched this
// code, skips the places for which `use` returned false there. `settled` returns whether `use` would return the same in
// every process.
template <typename Use, typename Settled>
void for_each_rare_pair(std::uint64_t name, std::uint64_t start, std::uint64_t first, std::uint64_t last, Use use,
                        Settled settled) {
  RuntimeState& s = state();
  if (const SearchedCode* known = searched_code(name, start)) {
    for (std::uint32_t i = 0; i < known->count; i++) use(start + s.searched_places[known->first + i]);
    return;
  }
  sys(SYS_madvise, page_down(start), page_up(last) - page_down(start), MADV_POPULATE_READ);  // avoids many faults
  SearchedCode found = {name, s.searched_places_used, 0};
  bool fits = name != 0 && s.searched_count < kMaxSearched && last - start <= ~std::uint32_t{0};
  for (std::uint64_t at = find_rare_pair(first, last); at < last; at = find_rare_pair(at + 1, last)) {
    if (!use(at)) continue;
    fits = fits && found.first + found.count < kMaxSearchedPlaces;
    if (fits) s.searched_places[found.first + found.count++] = static_cast<std::uint32_t>(at - start);
  }
  if (!fits || !settled()) return;
  s.searched_places_used += found.count;
  s.searched[s.searched_count++] = found;
}

}  // namespace reweave::core
