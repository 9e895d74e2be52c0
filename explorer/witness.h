// Runs along the witnesses of predicted candidates: the order of operations to follow, other orders that serve as well,
// how to come to the beginning of one that lacks it, and where a run left it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explorer/places.h"
#include "explorer/run.h"
#include "formats/candidates.h"

namespace reweave {

using WitnessOrder = std::vector<WitnessStep>;

// The witness itself, then, up to `most` in all, other linearizations of its partial order: steps of a thread, and
// steps on the same address of which one is not a read, stay in order; so does the last step of each thread, and what
// begins or joins threads, with everything. The first of them switches threads as seldom as possible.
std::vector<WitnessOrder> linearizations(const WitnessOrder& witness, std::size_t most);

// Steps a and b may not be exchanged.
bool ordered(const WitnessStep& a, const WitnessStep& b);

// Steps are missing from the start of the candidate's witness.
inline bool needs_beginning(const Candidate& candidate) { return candidate.cut || candidate.skipped_steps > 0; }
// The choices that lead to the first step of its witness, found in `recorded`, the run that the candidate was predicted
// from; empty if the witness lacks nothing. Nothing: a step that they are found by is not in the run.
std::optional<std::vector<ThreadId>> beginning_of(const Candidate& candidate, const Observation& recorded);

// The turns of threads that make up `order`. A join ends no turn: its place in a run, a system call, is not the one
// that the trace has.
std::vector<WitnessTurn> turns_of(const WitnessOrder& order);

// A run that makes the choices `beginning` and then follows the turns of `order`.
RunRequest witness_request(const std::vector<ThreadId>& beginning, const WitnessOrder& order);

// All turns of `order` came to their ends.
bool was_followed(const RunResult& run, const WitnessOrder& order);
// Where a run that did not follow `order` left it, and why.
std::string tell_departure(const RunResult& run, const WitnessOrder& order, Places& places);

}  // namespace reweave
