// What the calls about the program's own memory have in common.
#pragma once

#include <cstdint>

#include "recorder/core/memory/address_space.h"

namespace reweave::core {

struct Call;

// Answers a call that would `what` (a verb) memory of ours: ENOMEM, said once on standard error.
long refused_range(Call& call, const char* what);
// A call failed for the memory from `start` to `end`, somewhere in it; `works` makes it for a part from `start` on, and
// tells whether it succeeds. How far the work was done by then: such calls go from mapping to mapping, and doing them
// again changes nothing.
template <typename Works>
std::uint64_t reached_before_failure(std::uint64_t start, std::uint64_t end, Works works) {
  std::uint64_t done = 0, failing = (end - start) / kPage;  // pages
  while (done + 1 < failing) {
    const std::uint64_t middle = done + (failing - done) / 2;
    (works(middle * kPage) ? done : failing) = middle;
  }
  return start + done * kPage;
}
// True if PR_SET_MDWE forbids `prot` on what is mapped from `start` to `end`, or, of an empty range, on a new mapping.
bool gains_execution(std::uint64_t start, std::uint64_t end, long prot);
// READ_IMPLIES_EXEC (personality(2)), which an exec ends: the personality may have changed; and the rights of memory
// that the program maps with `prot`.
void note_personality();
std::uint32_t rights_of(long prot);

}  // namespace reweave::core
