#include "explorer/searches/prefix_goal.h"

#include <cstring>

namespace reweave {

RunRequest prefix_request(const std::vector<ThreadId>& choices, const std::vector<Sleeper>& sleepers) {
  const PrefixGoal header = {static_cast<std::uint32_t>(choices.size()), static_cast<std::uint32_t>(sleepers.size())};
  const std::size_t padded = (choices.size() + 3) / 4 * 4 * sizeof(ThreadId);
  RunRequest request;
  request.policy = "prefix";
  request.observe = true;
  request.goal.resize(sizeof header + padded + sleepers.size() * sizeof(Sleeper));
  std::byte* at = request.goal.data();
  std::memcpy(at, &header, sizeof header);
  if (!choices.empty()) std::memcpy(at + sizeof header, choices.data(), choices.size() * sizeof(ThreadId));
  if (!sleepers.empty()) std::memcpy(at + sizeof header + padded, sleepers.data(), sleepers.size() * sizeof(Sleeper));
  return request;
}

}  // namespace reweave
