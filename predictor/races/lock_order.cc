#include "predictor/races/lock_order.h"

#include <algorithm>
#include <deque>

namespace reweave {

std::optional<std::vector<LockOrder::Step>> LockOrder::take(const std::vector<LockHeld>& held, std::uint32_t lock,
                                                            const NamedPlace& place, ThreadId thread) {
  std::optional<std::vector<Step>> cycle;
  for (const LockHeld& before : held) {
    const bool is_new = after_[before.lock].try_emplace(lock, Edge{place, thread}).second;
    if (!is_new || cycle) continue;
    const std::vector<std::uint32_t> locks = path(lock, before.lock);
    if (locks.empty() || !told_.emplace(locks.begin(), locks.end()).second) continue;
    cycle.emplace();
    for (std::size_t i = 0; i < locks.size(); i++) {
      const Edge& edge = after_.at(locks[i]).at(locks[(i + 1) % locks.size()]);
      cycle->push_back({locks[i], edge.place, edge.thread});
    }
  }
  return cycle;
}

// The shortest path, including both ends; empty if there is none.
std::vector<std::uint32_t> LockOrder::path(std::uint32_t from, std::uint32_t to) const {
  std::map<std::uint32_t, std::uint32_t> come_from = {{from, from}};
  std::deque<std::uint32_t> next = {from};
  while (!next.empty() && !come_from.contains(to)) {
    const std::uint32_t lock = next.front();
    next.pop_front();
    const auto edges = after_.find(lock);
    if (edges == after_.end()) continue;
    for (const auto& [taken, edge] : edges->second)
      if (come_from.try_emplace(taken, lock).second) next.push_back(taken);
  }
  if (!come_from.contains(to)) return {};
  std::vector<std::uint32_t> locks = {to};
  while (locks.back() != from) locks.push_back(come_from.at(locks.back()));
  std::reverse(locks.begin(), locks.end());
  return locks;
}

}  // namespace reweave
