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

ValueRun::ValueRun(const TraceModel& model, ReadRule rule)
    : model_(model), rule_(rule), values_(model.size()), mixed_(model.size()) {
  State state = initial();
  for (EventIndex e = 0; e < model.size(); ++e) {
    values_[e] = read(state, e);
    mixed_[e] = sources(state, e);
    write(state, e);
  }
}

ValueRun::State ValueRun::initial() const {
  const std::size_t threads = model_.thread_count();
  State state{{}, std::vector<std::uint64_t>(threads), std::vector<std::uint64_t>(threads), std::vector<bool>(threads)};
  for (std::uint32_t v = 0; v < model_.variables.size(); ++v) state.memory[v] = model_.value_of(kNone, v);
  return state;
}

bool ValueRun::decides(EventIndex e) const {
  if (model_.has_branches) return model_.op[e] == Op::kBranch || model_.op[e] == Op::kEnd;
  return (model_.flags[e] & kSameInstruction) == 0;
}

// Mixes the values that the write `e` may depend on.
std::uint64_t ValueRun::sources(const State& state, EventIndex e) const {
  const std::uint32_t t = model_.thread[e];
  const std::uint64_t own = model_.is_blind(e) ? state.memory.at(model_.object[e]) : 0;
  return mixed(mixed(mixed(e, own), state.read[t]), model_.carries(e) ? state.read_data[t] : 0);
}

std::uint64_t ValueRun::read(State& state, EventIndex e) const {
  if (!model_.is_read(e)) return 0;
  const std::uint32_t t = model_.thread[e];
  const std::uint64_t value = state.memory[model_.object[e]];
  if (model_.is_blind(e)) return value;
  std::uint64_t& known = model_.decides_nothing(e) ? state.read_data[t] : state.read[t];
  known = mixed(known, value);
  return value;
}

void ValueRun::write(State& state, EventIndex e) const {
  if (!model_.is_write(e)) return;
  const std::uint64_t mixed = sources(state, e), stored = model_.value_of(e, model_.object[e]);
  state.memory[model_.object[e]] = stored != 0 && mixed == mixed_[e] ? stored : mixed;
}

bool ValueRun::decides_alike(const std::vector<EventIndex>& order, const std::vector<EventIndex>& stops) const {
  State state = initial();
  for (const EventIndex e : order) {
    const std::uint32_t t = model_.thread[e];
    if (decides(e) && state.misled[t]) return false;
    const bool other = read(state, e) != values_[e];
    write(state, e);
    if (!model_.is_read(e) || !other) continue;
    if (model_.decides_at_once(e)) return false;
    if (!model_.carries_data(e, rule_)) state.misled[t] = true;
  }
  return std::none_of(stops.begin(), stops.end(),
                      [&](EventIndex e) { return decides(e) && state.misled[model_.thread[e]]; });
}

}  // namespace reweave::testing
