// Functions shared by the calls about the program's own memory.
#pragma once

#include <cstdint>

#include "recorder/core/memory/address_space.h"

namespace reweave::core {

struct Call;

// Fails a call on memory of the core with ENOMEM, and reports the first such call on standard error. `what` is a verb:
// what the call would do to the memory.
long refused_range(Call& call, const char* what);
// Returns the address up to which a failed call on the memory from `start` to `end` took effect. `works` makes the call
// for part of the range, from `start` on, and returns whether it succeeds. Such calls go from mapping to mapping, and
// repeating them changes nothing.
template <typename Works>
std::uint64_t reached_before_failure(std::uint64_t start, std::uint64_t end, Works works) {
  std::uint64_t done = 0, failing = (end - start) / kPage;  // pages
  while (done + 1 < failing) {
    const std::uint64_t middle = done + (failing - done) / 2;
    (works(middle * kPage) ? done : failing) = middle;
  }
  return start + done * kPage;
}
// True if PR_SET_MDWE forbids `prot` for the mappings from `start` to `end`. An empty range means a new mapping.
bool gains_execution(std::uint64_t start, std::uint64_t end, long prot);
// True if the program has asked for memory that is empty in child processes (MADV_WIPEONFORK).
bool forks_differ();
// READ_IMPLIES_EXEC (personality(2)), which exec clears. note_personality looks for it again after the personality may
// have changed. rights_of returns the rights of memory that the program maps with `prot`.
void note_personality();
std::uint32_t rights_of(long prot);

}  // namespace reweave::core
