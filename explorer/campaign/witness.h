// Runs along the witnesses of predicted candidates: the order of operations to follow, equivalent orders, and where a
// run departed from it.
#pragma once

#include <string>
#include <vector>

#include "explorer/run/run.h"
#include "explorer/words/places.h"
#include "formats/trace/candidates.h"

namespace reweave {

using WitnessOrder = std::vector<WitnessStep>;

// Returns the witness itself, then other linearizations of its partial order, up to `most` orders in all. Steps of the
// same thread stay in order, and so do steps on the same address unless both are reads. The last step of each thread,
// fences, and steps that begin or join threads stay in order with all other steps. The first linearization after the
// witness continues each thread as long as possible.
std::vector<WitnessOrder> linearizations(const WitnessOrder& witness, std::size_t most);

// True if steps a and b must stay in order.
bool ordered(const WitnessStep& a, const WitnessStep& b);

// The turns that guide a run from main along `order`, which is the candidate's witness or another linearization of it.
std::vector<WitnessTurn> turns_along(const Candidate& candidate, const WitnessOrder& order);

// A run that follows `turns`.
RunRequest witness_request(const std::vector<WitnessTurn>& turns);

// True if all turns were completed.
bool was_followed(const RunResult& run, const std::vector<WitnessTurn>& turns);
// The place at which a run departed from `turns`, and the reason; empty if it followed them.
std::string tell_departure(const RunResult& run, const std::vector<WitnessTurn>& turns, Places& places);

}  // namespace reweave
