#include "predictor/suspects/block_cycles.h"

#include <algorithm>
#include <utility>

namespace reweave {

namespace {

// Finds strongly connected components among the blocks that `is_there` holds for (Tarjan's algorithm, not recursive).
class Components {
 public:
  Components(const SummaryFunction& function, std::vector<bool> is_there)
      : blocks_(function.blocks), is_there_(std::move(is_there)), index_(blocks_.size()), low_(blocks_.size()) {
    is_open_.resize(blocks_.size());
    found_.cycle.assign(blocks_.size(), 0);
  }

  void run_from(std::uint32_t root) {
    if (!is_there_[root] || index_[root] != 0) return;
    enter(root);
    while (!path_.empty()) {
      auto& [block, next] = path_.back();
      const std::vector<std::uint32_t>& successors = blocks_[block].next;
      if (next < successors.size()) {
        const std::uint32_t to = successors[next++];
        if (!is_there_[to]) continue;
        if (index_[to] == 0)
          enter(to);
        else if (is_open_[to])
          low_[block] = std::min(low_[block], index_[to]);
        continue;
      }
      leave();
    }
  }

  BlockCycles take() {
    std::ranges::reverse(found_.order);
    return std::move(found_);
  }

 private:
  void enter(std::uint32_t block) {
    path_.emplace_back(block, 0);
    index_[block] = low_[block] = ++entered_;
    stack_.push_back(block);
    is_open_[block] = true;
  }

  void leave() {
    const std::uint32_t block = path_.back().first;
    path_.pop_back();
    found_.order.push_back(block);
    if (!path_.empty()) low_[path_.back().first] = std::min(low_[path_.back().first], low_[block]);
    if (low_[block] != index_[block]) return;
    const bool is_cycle = stack_.back() != block || std::ranges::count(blocks_[block].next, block) != 0;
    if (is_cycle) cycles_++;
    for (std::uint32_t member = kNoNode; member != block;) {
      member = stack_.back();
      stack_.pop_back();
      is_open_[member] = false;
      if (is_cycle) found_.cycle[member] = cycles_;
    }
  }

  const std::vector<SummaryBlock>& blocks_;
  const std::vector<bool> is_there_;
  std::vector<std::uint32_t> index_, low_, stack_;
  std::vector<bool> is_open_;
  std::vector<std::pair<std::uint32_t, std::size_t>> path_;
  BlockCycles found_;
  std::uint32_t entered_ = 0, cycles_ = 0;
};

}  // namespace

BlockCycles cycles_of(const SummaryFunction& function) {
  Components components(function, std::vector<bool>(function.blocks.size(), true));
  components.run_from(0);
  return components.take();
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
    Components components(function, is_there);
    components.run_from(block);
    inner = components.take();
  }
  return members;
}

}  // namespace reweave
