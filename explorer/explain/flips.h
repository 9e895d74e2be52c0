// Interventions: reverses single pairs of events, in the failing schedule and in random schedules.
#pragma once

#include "explorer/explain/explanation.h"
#include "explorer/explain/laboratory.h"

namespace reweave {

inline constexpr std::uint64_t kFlipRuns = 20;

// Measures the failure rates with both orders of the pair. `failing` must be an observed run that repeats when only its
// switches are given. `blocks`: the atomic blocks that the pair breaks. The flip gets the one with the highest failure
// rate if that rate is at least the pair's, and otherwise the first.
Flip try_flip(Laboratory& laboratory, const RunResult& failing, const EventPair& pair,
              const std::vector<BrokenBlock>& blocks);
// Returns the failure rate of random schedules in which each pair keeps its order. A thread is held before it takes the
// locks under which its event is.
Rate rate_with(Laboratory& laboratory, const std::vector<EventPair>& pairs);
// Makes more random schedules with both orders of a pair that the failing schedule needs, if too few failed to tell.
void measure_more(Laboratory& laboratory, Flip& flip, const Rate& base);
// Sorts the most informative flips first: the release before a use after free; then flips that make random schedules
// fail, first those that are also necessary; then flips that are only necessary; then the rest. Among equals, the
// greater difference in failure rates comes first, then memory before synchronisation (after it, if the run is
// deadlocked with a thread waiting for a lock), then broken blocks, then later events.
void rank_flips(std::vector<Flip>& flips, const RunResult& failing, const Rate& base);

// P(failure | the first choices of the failing run) at `points` choices, preferably at the events of `pairs` and at
// preemptions.
std::vector<CurvePoint> failure_curve(Laboratory& laboratory, const RunResult& failing,
                                      const std::vector<EventPair>& pairs, std::size_t points, std::uint64_t runs);

}  // namespace reweave
