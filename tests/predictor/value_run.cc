#include "tests/predictor/value_run.h"

#include <algorithm>

namespace reweave::testing {
namespace {

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = (a + 0x9e3779b97f4a7c15ull) ^ (b * 0xbf58476d1ce4e5b9ull);
  x ^= x >> 29;
  x *= 0x94d049bb133111ebull;
  return x ^ x >> 32;
}

}  // namespace

ValueRun::ValueRun(const TraceModel& model, ReadRule rule) : model_(model), rule_(rule), values_(model.size()) {
  State state = initial();
  for (EventIndex e = 0; e < model.size(); ++e) values_[e] = step(state, e);
}

ValueRun::State ValueRun::initial() const {
  const std::size_t threads = model_.thread_count();
  return {{}, std::vector<std::uint64_t>(threads), std::vector<std::uint64_t>(threads), std::vector<bool>(threads)};
}

bool ValueRun::decides(EventIndex e) const {
  if (model_.has_branches) return model_.op[e] == Op::kBranch || model_.op[e] == Op::kEnd;
  return (model_.flags[e] & kSameInstruction) == 0;
}

std::uint64_t ValueRun::step(State& state, EventIndex e) const {
  if (!model_.is_access(e)) return 0;
  const std::uint32_t t = model_.thread[e];
  std::uint64_t& cell = state.memory[model_.object[e]];
  const std::uint64_t value = cell;
  if (model_.is_read(e)) {
    std::uint64_t& known = model_.decides_nothing(e) ? state.read_data[t] : state.read[t];
    known = mixed(known, value);
  }
  if (model_.is_write(e)) cell = mixed(mixed(e, state.read[t]), model_.carries(e) ? state.read_data[t] : 0);
  return value;
}

bool ValueRun::decides_alike(const std::vector<EventIndex>& order, const std::vector<EventIndex>& stops) const {
  State state = initial();
  for (const EventIndex e : order) {
    const std::uint32_t t = model_.thread[e];
    if (decides(e) && state.misled[t]) return false;
    const bool other = step(state, e) != values_[e];
    if (!model_.is_read(e) || !other) continue;
    if (model_.is_atomic(e)) return false;
    if (!model_.carries_data(e, rule_)) state.misled[t] = true;
  }
  return std::none_of(stops.begin(), stops.end(),
                      [&](EventIndex e) { return decides(e) && state.misled[model_.thread[e]]; });
}

}  // namespace reweave::testing
