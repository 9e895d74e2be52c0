#include "predictor/suspects/block_cycles.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "predictor/suspects/components.h"

namespace reweave {

namespace {

// The cycles that can be reached from `root`, among the blocks that `is_there` holds for.
BlockCycles cycles_among(const SummaryFunction& function, std::uint32_t root, const std::vector<bool>& is_there) {
  BlockCycles found;
  std::uint32_t cycles = 0;
  found.cycle.assign(function.blocks.size(), 0);
  const auto edge_of = [&](std::uint32_t block, std::size_t i) {
    const std::vector<std::uint32_t>& next = function.blocks[block].next;
    if (i >= next.size()) return kNoNode;
    return is_there[next[i]] ? next[i] : block;
  };
  const auto take = [&](std::span<const std::uint32_t> members) {
    const std::uint32_t block = members.back();
    if (members.size() == 1 && std::ranges::count(function.blocks[block].next, block) == 0) return;
    cycles++;
    for (const std::uint32_t member : members) found.cycle[member] = cycles;
  };
  ComponentSearch search(function.blocks.size(), edge_of, take);
  search.search_from(root);
  std::ranges::reverse_copy(search.done(), std::back_inserter(found.order));
  return found;
}

}  // namespace

BlockCycles cycles_of(const SummaryFunction& function) {
  return cycles_among(function, 0, std::vector<bool>(function.blocks.size(), true));
}

// Without the block at which a cycle is entered, what is left of it are the loops inside.
std::set<std::uint32_t> innermost_cycle(const SummaryFunction& function, const BlockCycles& cycles,
                                        std::uint32_t block) {
  std::vector<std::uint32_t> rank(function.blocks.size(), UINT32_MAX);
  for (std::uint32_t i = 0; i < cycles.order.size(); i++) rank[cycles.order[i]] = i;
  BlockCycles inner = cycles;
  std::set<std::uint32_t> members;
  while (inner.cycle[block] != 0) {
    members.clear();
    for (std::uint32_t b = 0; b < function.blocks.size(); b++)
      if (inner.cycle[b] == inner.cycle[block]) members.insert(b);
    const std::uint32_t entered =
        *std::ranges::min_element(members, {}, [&](std::uint32_t member) { return rank[member]; });
    if (entered == block) break;
    std::vector<bool> is_there(function.blocks.size(), false);
    for (const std::uint32_t member : members) is_there[member] = member != entered;
    inner = cycles_among(function, block, is_there);
  }
  return members;
}

}  // namespace reweave
