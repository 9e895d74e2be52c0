#include "predictor/decide/analysis.h"

namespace reweave {

void GroupTable::add(Group& group, Instance instance) {
  ++group.count;
  if (!full(group)) {
    group.instances.push_back(std::move(instance));
    return;
  }
  // Keep the nth with probability kMaxInstances / n, from a hash of the count, so the choice is deterministic.
  const std::uint64_t mixed = (group.count * 0x9e3779b97f4a7c15ull) >> 20;
  const std::uint64_t slot = mixed % group.count;
  if (slot < kMaxInstances) group.instances[slot] = std::move(instance);
}

std::vector<Group> GroupTable::take() {
  std::vector<Group> result;
  for (auto& [key, group] : groups_) {
    if (!group.instances.empty()) result.push_back(std::move(group));
  }
  return result;
}

}  // namespace reweave
