#include "explorer/run/guide.h"

#include <cstring>

#include "formats/base/error.h"

namespace reweave {

namespace {

template <typename T>
void append(std::vector<std::byte>& to, const std::vector<T>& items) {
  const std::size_t at = to.size();
  to.resize(at + items.size() * sizeof(T));
  if (!items.empty()) std::memcpy(to.data() + at, items.data(), items.size() * sizeof(T));
}

void check_counts(const GuidedGoal& header) {
  REQUIRE(header.orders <= kMostOrders && header.regions <= kMostRegions,
          "a run can hold at most {} orders and {} blocks", kMostOrders, kMostRegions);
}

// Adds orders and regions to the goal of a request for `guided`.
void insert(std::vector<std::byte>& goal, const HeldGoals& held) {
  GuidedGoal header;
  std::memcpy(&header, goal.data(), sizeof header);
  header.held_orders_from = static_cast<std::uint16_t>(header.orders);
  header.held_regions_from = static_cast<std::uint16_t>(header.regions);
  const std::size_t end_of_orders = sizeof header + header.orders * sizeof(OrderGoal),
                    end_of_regions = end_of_orders + header.regions * sizeof(RegionGoal);
  header.orders += static_cast<std::uint32_t>(held.orders.size());
  header.regions += static_cast<std::uint32_t>(held.regions.size());
  check_counts(header);
  std::vector<std::byte> with;
  append(with, std::vector<GuidedGoal>{header});
  with.insert(with.end(), goal.begin() + sizeof header, goal.begin() + static_cast<std::ptrdiff_t>(end_of_orders));
  append(with, held.orders);
  with.insert(with.end(), goal.begin() + static_cast<std::ptrdiff_t>(end_of_orders),
              goal.begin() + static_cast<std::ptrdiff_t>(end_of_regions));
  append(with, held.regions);
  with.insert(with.end(), goal.begin() + static_cast<std::ptrdiff_t>(end_of_regions), goal.end());
  goal = std::move(with);
}

}  // namespace

RunRequest with_held_goals(const RunRequest& request) {
  if (request.held == nullptr) return request;
  RunRequest with = request;
  with.held = nullptr;
  if (request.policy == "guided") {
    insert(with.goal, *request.held);
    return with;
  }
  GuidedGoal header = {};
  header.orders = static_cast<std::uint32_t>(request.held->orders.size());
  header.regions = static_cast<std::uint32_t>(request.held->regions.size());
  check_counts(header);
  header.goal_bytes = static_cast<std::uint32_t>(request.goal.size());
  REQUIRE(request.policy.size() < sizeof header.continuation, "unknown strategy {}", request.policy);
  request.policy.copy(header.continuation, sizeof header.continuation - 1);
  with.policy = "guided";
  with.goal.clear();
  append(with.goal, std::vector<GuidedGoal>{header});
  append(with.goal, request.held->orders);
  append(with.goal, request.held->regions);
  append(with.goal, request.goal);
  with.goal.resize((with.goal.size() + 7) / 8 * 8);
  return with;
}

Guide at_random(std::vector<OrderGoal> orders) {
  Guide guide;
  guide.choices = 0;
  guide.orders = std::move(orders);
  return guide;
}

RunRequest request_of(const Guide& guide, std::uint64_t seed) {
  CHECK(guide.orders.size() <= kMostOrders && guide.regions.size() <= kMostRegions);
  const RunRequest schedule = request_of(guide.switches);  // sorts them
  GuidedGoal header = {};
  header.orders = static_cast<std::uint32_t>(guide.orders.size());
  header.regions = static_cast<std::uint32_t>(guide.regions.size());
  header.switches = static_cast<std::uint32_t>(schedule.goal.size() / sizeof(ScheduleStep));
  header.choices = guide.choices;
  header.held_orders_from = static_cast<std::uint16_t>(header.orders);
  header.held_regions_from = static_cast<std::uint16_t>(header.regions);
  guide.continuation.copy(header.continuation, sizeof header.continuation - 1);
  RunRequest request;
  request.policy = "guided";
  request.seed = seed;
  request.inputs = schedule.inputs;
  append(request.goal, std::vector<GuidedGoal>{header});
  append(request.goal, guide.orders);
  append(request.goal, guide.regions);
  request.goal.insert(request.goal.end(), schedule.goal.begin(), schedule.goal.end());
  return request;
}

}  // namespace reweave
