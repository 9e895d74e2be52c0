// What the calls about the program's own memory have in common.
#pragma once

#include <cstdint>

namespace reweave::core {

struct Call;

// Answers a call that would `what` (a verb) memory of ours: ENOMEM, said once on standard error.
long refused_range(Call& call, const char* what);
// True if PR_SET_MDWE forbids `prot` on what is mapped from `start` to `end`, or, of an empty range, on a new mapping.
bool gains_execution(std::uint64_t start, std::uint64_t end, long prot);
// READ_IMPLIES_EXEC (personality(2)), which an exec ends: the personality may have changed; and the rights of memory
// that the program maps with `prot`.
void note_personality();
std::uint32_t rights_of(long prot);

}  // namespace reweave::core
