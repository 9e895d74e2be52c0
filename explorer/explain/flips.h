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
// What tells most first: of a use after free the release before the use; then what is necessary and makes random
// schedules fail, then what is one of both, then what makes the greater difference, then memory before synchronisation
// (or after it, if the run ended with a thread that waits for a lock), then what is late.
void rank_flips(std::vector<Flip>& flips, const RunResult& failing, const Rate& base);

// P(failure | the first choices of the failing run) at `points` choices, those at which something of `pairs` is done or
// another thread takes over first of all.
std::vector<CurvePoint> failure_curve(Laboratory& laboratory, const RunResult& failing,
                                      const std::vector<EventPair>& pairs, std::size_t points, std::uint64_t runs);

}  // namespace reweave
