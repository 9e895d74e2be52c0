// Tries assumptions that could prevent a failure, in random schedules: blocks that are not interrupted, or orders. A
// remedy is a suggestion, never a proof that the program is then correct.
#pragma once

#include "explorer/explain/explanation.h"
#include "explorer/explain/remedies/trial.h"

namespace reweave {

// Tries remedies for the flip, the smallest first, until no run fails under one. Returns all that were tried. `misuse`:
// the flip is a release before a use (is_release_before_use).
std::vector<Remedy> try_remedies(Trial& trial, const Flip& flip, bool misuse);
// Does the same for two orders of two threads, each of which executes an event of both. Empty for other sets.
std::vector<Remedy> try_remedies(Trial& trial, const OrderSet& set);
// Tries the remedy that only one thread at a time takes the locks of the cycle, as if all took them in one order.
std::vector<Remedy> try_remedies(Trial& trial, const std::vector<LockWait>& cycle);

}  // namespace reweave
