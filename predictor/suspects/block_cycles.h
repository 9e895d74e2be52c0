// Cycles among the blocks of a function.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "predictor/suspects/program_summary.h"

namespace reweave {

struct BlockCycles {
  std::vector<std::uint32_t> order;  // the blocks that can be reached, in reverse postorder
  std::vector<std::uint32_t> cycle;  // of each block: 0 if it is on no cycle, else a number that all on the cycle share
};

BlockCycles cycles_of(const SummaryFunction& function);

// The blocks of the innermost loop around the block, which is on a cycle.
std::set<std::uint32_t> innermost_cycle(const SummaryFunction& function, const BlockCycles& cycles,
                                        std::uint32_t block);

}  // namespace reweave
