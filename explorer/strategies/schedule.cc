// schedule: a given list of switches, and otherwise no preemption. Minimisation uses it.
//
// A switch is named by a thread and the number of schedule points that this thread has executed, no matter what other
// threads do in between. So leaving out one switch neither renames nor drops the others. A thread that yields or seems
// to spin still continues if the list has a later switch of this thread, which it may reach by spinning.
#include "explorer/strategies/choices.h"
#include "explorer/strategies/goals.h"

namespace reweave {

namespace {

// A bit for each switch that was made. In longer lists the remaining switches may be made more than once, which is
// harmless.
constexpr std::uint64_t kBits = sizeof(PolicyState::words) * 8;

void begin_run(const PolicyConfig& config, PolicyState& state) {
  const std::uint64_t count = config.goal_bytes / sizeof(ScheduleStep);
  for (std::uint64_t i = 0; i < kBits / 64 && i * 64 < count; i++) state.words[i] = 0;
}

bool before(const ScheduleStep& a, const ScheduleStep& b) {
  if (a.thread != b.thread) return a.thread < b.thread;
  if (a.tick != b.tick) return a.tick < b.tick;
  return a.free < b.free;
}

std::uint64_t first_not_before(const ScheduleStep* steps, std::uint64_t count, const ScheduleStep& key) {
  std::uint64_t low = 0;
  while (count > 0) {
    const std::uint64_t half = count / 2;
    if (before(steps[low + half], key)) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

// True the first time that it is called for switch `i`.
bool take(PolicyState& state, std::uint64_t i) {
  if (i >= kBits) return true;
  std::uint64_t& word = state.words[i / 64];
  const std::uint64_t bit = std::uint64_t{1} << (i % 64);
  const bool first = (word & bit) == 0;
  word |= bit;
  return first;
}

// True if the list has a later switch of the same thread.
bool named_later(const ScheduleStep* steps, std::uint64_t count, ScheduleStep key) {
  key.tick++;
  key.free = 0;
  const std::uint64_t i = first_not_before(steps, count, key);
  return i < count && steps[i].thread == key.thread;
}

Choice choose(const ChoiceArgs& args) {
  const auto* steps = reinterpret_cast<const ScheduleStep*>(args.goal);
  const std::uint64_t count = args.config.goal_bytes / sizeof(ScheduleStep);
  const Thread& current = args.current;
  const bool keeps_running = args.current_enabled && !args.yielded;
  const ScheduleStep key = {static_cast<std::uint32_t>(current.ticks), current.id, 0,
                            static_cast<std::uint16_t>(keeps_running ? 0 : 1), 0};
  for (std::uint64_t i = first_not_before(steps, count, key); i < count && !before(key, steps[i]); i++) {
    if (!take(args.state, i)) continue;
    if (contains(args, steps[i].to)) return {steps[i].to, 0};
    break;
  }
  if (args.current_enabled && named_later(steps, count, key)) return {current.id, 0};
  return {without_preemption(args), 0};
}

}  // namespace

extern const Policy kSchedulePolicy = {"schedule", "a given list of switches, otherwise no preemption", begin_run,
                                       choose};

}  // namespace reweave
