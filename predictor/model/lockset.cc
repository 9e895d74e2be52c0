#include "predictor/model/lockset.h"

#include <algorithm>

namespace reweave {

Locksets::Locksets(const TraceModel& model) : model_(model) {
  std::unordered_map<std::uint64_t, std::uint32_t> extended;  // (set, lock and mode) -> set
  set_of_node_.assign(model.held_nodes.size(), 0);
  for (std::size_t node = 1; node < model.held_nodes.size(); ++node) {
    const HeldNode& held = model.held_nodes[node];
    const std::uint32_t parent = set_of_node_[held.parent];
    const std::uint32_t lock = model.object[held.acquire];
    const bool shared = model.is_shared(held.acquire);
    const std::uint64_t key = std::uint64_t{parent} << 33 | std::uint64_t{lock} << 1 | (shared ? 1 : 0);
    auto [it, fresh] = extended.try_emplace(key, static_cast<std::uint32_t>(sets_.size()));
    if (fresh) {
      sets_.push_back(sets_[parent]);
      sets_.back().push_back({lock, shared});
    }
    set_of_node_[node] = it->second;
  }
}

bool Locksets::compatible(std::uint32_t a, std::uint32_t b) const {
  for (const Lock& mine : sets_[a]) {
    for (const Lock& other : sets_[b]) {
      if (mine.id == other.id && !(mine.shared && other.shared)) return false;
    }
  }
  return true;
}

bool Locksets::holds(std::uint32_t set, std::uint32_t lock) const {
  return std::any_of(sets_[set].begin(), sets_[set].end(), [&](const Lock& l) { return l.id == lock; });
}

EventIndex Locksets::section(EventIndex e, std::uint32_t lock) const {
  for (std::uint32_t node = model_.held[e]; node != 0; node = model_.held_nodes[node].parent) {
    if (model_.object[model_.held_nodes[node].acquire] == lock) return model_.held_nodes[node].acquire;
  }
  return kNone;
}

EventIndex Locksets::entry(EventIndex e, EventIndex after) const {
  EventIndex result = e;
  for (std::uint32_t node = model_.held[e]; node != 0; node = model_.held_nodes[node].parent) {
    if (model_.held_nodes[node].acquire > after) result = std::min(result, model_.held_nodes[node].acquire);
  }
  return result;
}

EventIndex Locksets::outermost(EventIndex e) const {
  EventIndex first = e;
  for (std::uint32_t node = model_.held[e]; node != 0; node = model_.held_nodes[node].parent) {
    first = std::min(first, model_.held_nodes[node].acquire);
  }
  return first;
}

}  // namespace reweave
