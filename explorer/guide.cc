#include "explorer/guide.h"

#include <cstring>

#include "formats/error.h"

namespace reweave {

namespace {

template <typename T>
void append(std::vector<std::byte>& to, const std::vector<T>& items) {
  const std::size_t at = to.size();
  to.resize(at + items.size() * sizeof(T));
  if (!items.empty()) std::memcpy(to.data() + at, items.data(), items.size() * sizeof(T));
}

}  // namespace

RunRequest request_of(const Guide& guide, std::uint64_t seed) {
  CHECK(guide.orders.size() <= kMostOrders && guide.regions.size() <= kMostRegions);
  const RunRequest schedule = request_of(guide.switches);  // sorts them
  GuidedGoal header = {};
  header.orders = static_cast<std::uint32_t>(guide.orders.size());
  header.regions = static_cast<std::uint32_t>(guide.regions.size());
  header.switches = static_cast<std::uint32_t>(schedule.goal.size() / sizeof(ScheduleStep));
  header.choices = guide.choices;
  guide.continuation.copy(header.continuation, sizeof header.continuation - 1);
  RunRequest request;
  request.policy = "guided";
  request.seed = seed;
  append(request.goal, std::vector<GuidedGoal>{header});
  append(request.goal, guide.orders);
  append(request.goal, guide.regions);
  request.goal.insert(request.goal.end(), schedule.goal.begin(), schedule.goal.end());
  return request;
}

}  // namespace reweave
