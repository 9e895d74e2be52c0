// Assumptions that would remove a failure, tried in random schedules: a block that is not interrupted, an order that
// holds. A suggestion, and never a proof that the program is then correct.
#pragma once

#include "explorer/explain/explanation.h"
#include "explorer/explain/laboratory.h"

namespace reweave {

// What was tried for the flip, the smallest first, up to the first under which nothing failed in `runs` runs.
std::vector<Remedy> try_remedies(Laboratory& laboratory, const Flip& flip, const std::vector<Event>& failing,
                                 std::uint64_t runs);
// That one thread at a time takes the locks of the cycle.
std::vector<Remedy> try_remedies(Laboratory& laboratory, const std::vector<LockWait>& cycle, std::uint64_t runs);

}  // namespace reweave
