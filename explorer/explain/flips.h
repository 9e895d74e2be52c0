// Interventions: pairs of events in the other order, alone in the failing schedule, and alone in random schedules.
#pragma once

#include "explorer/explain/explanation.h"
#include "explorer/explain/laboratory.h"

namespace reweave {

inline constexpr std::uint64_t kFlipRuns = 20;

// The rates of the pair's orders. `failing` is made again by its switches; `blocks`: that the pair breaks; the flip
// has the one that makes more runs fail than the pair alone.
Flip try_flip(Laboratory& laboratory, const RunResult& failing, const EventPair& pair,
              const std::vector<BrokenBlock>& blocks);
// What tells most first: necessary, then sufficient, then memory before synchronisation (or after it, if
// `locks_first`), then late.
void rank_flips(std::vector<Flip>& flips, bool locks_first);

// P(failure | the first choices of the failing run) at `points` choices, those at which something of `pairs` is done or
// another thread takes over first of all.
std::vector<CurvePoint> failure_curve(Laboratory& laboratory, const RunResult& failing,
                                      const std::vector<EventPair>& pairs, std::size_t points, std::uint64_t runs);

}  // namespace reweave
