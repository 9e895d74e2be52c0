// Tries assumptions that could prevent a failure, in random schedules: a block that is not interrupted, or an order. A
// remedy is a suggestion, never a proof that the program is then correct.
#pragma once

#include "explorer/explain/explanation.h"
#include "explorer/explain/laboratory.h"

namespace reweave {

// Tries remedies for the flip, the smallest first, until none of `runs` runs fails under one. Returns all that were
// tried.
std::vector<Remedy> try_remedies(Laboratory& laboratory, const Flip& flip, const std::vector<Event>& failing,
                                 std::uint64_t runs, const SamePlace& same_place);
// Tries the remedy that two blocks of code exclude each other: each thread's code between its events in the two orders.
// Empty if the orders are not of this kind.
std::vector<Remedy> try_remedies(Laboratory& laboratory, const OrderSet& set, std::uint64_t runs);
// Tries the remedy that only one thread at a time takes the locks of the cycle.
std::vector<Remedy> try_remedies(Laboratory& laboratory, const std::vector<LockWait>& cycle, std::uint64_t runs);

}  // namespace reweave
