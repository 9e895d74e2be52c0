// prefix: a given sequence of choices, then no preemption; sleeping threads stay asleep as long as others can run. The
// systematic searches use it.
#include "explorer/strategies/choices.h"
#include "explorer/strategies/goals.h"

namespace reweave {

namespace {

// kOff: the prefix could not be followed. kAsleep: only sleeping threads could run, so the run shows nothing new.
// kAllAwake: no thread sleeps any more. kAwake: a bit for each sleeper.
enum { kNext = 0, kOff = 1, kAsleep = 2, kAllAwake = 3, kAwake = 8 };
constexpr std::uint64_t kMostSleepers = 16'000;

void begin_run(const PolicyConfig&, PolicyState& state) {
  for (std::uint64_t& word : state.words) word = 0;
}

struct Goal {
  PrefixGoal header;
  const ThreadId* choices;
  const Sleeper* sleepers;
};

Goal goal_of(const ChoiceArgs& args) {
  if (args.goal == nullptr) return {{0, 0}, nullptr, nullptr};
  const auto& header = *reinterpret_cast<const PrefixGoal*>(args.goal);
  const auto* choices = reinterpret_cast<const ThreadId*>(&header + 1);
  const std::uint64_t padded = (std::uint64_t{header.choices} + 3) / 4 * 4;
  return {header, choices, reinterpret_cast<const Sleeper*>(choices + padded)};
}

bool awake(const PolicyState& state, std::uint64_t i) { return (state.words[kAwake + i / 64] >> (i % 64) & 1) != 0; }

bool sleeps(const ChoiceArgs& args, const Goal& goal, ThreadId thread) {
  for (std::uint64_t i = 0; i < goal.header.sleepers && i < kMostSleepers; i++)
    if (goal.sleepers[i].thread == thread && !awake(args.state, i)) return true;
  return false;
}

// The pending operation of `thread` is executed: threads whose operations depend on it wake up.
void wake(const ChoiceArgs& args, const Goal& goal, ThreadId thread) {
  for (std::uint64_t i = 0; i < goal.header.sleepers && i < kMostSleepers; i++) {
    const Sleeper& sleeper = goal.sleepers[i];
    const PendingOp op = {sleeper.object, 0, static_cast<OpKind>(sleeper.kind), sleeper.is_write, 0, sleeper.bytes};
    if (sleeper.thread == thread || conflicting(op, args.threads[thread].op))
      args.state.words[kAwake + i / 64] |= std::uint64_t{1} << (i % 64);
  }
}

ThreadId after_prefix(const ChoiceArgs& args, const Goal& goal) {
  const ThreadId usual = without_preemption(args);
  // A thread that yields may wait for a sleeping one.
  if (args.yielded) args.state.words[kAllAwake] = 1;
  if (goal.header.sleepers == 0 || args.state.words[kAllAwake] != 0 || !sleeps(args, goal, usual)) return usual;
  for (std::uint32_t i = 0; i < args.count; i++)
    if (!sleeps(args, goal, args.enabled[i])) return args.enabled[i];
  args.state.words[kAsleep] = 1;
  return usual;
}

Choice choose(const ChoiceArgs& args) {
  const Goal goal = goal_of(args);
  std::uint64_t& next = args.state.words[kNext];
  ThreadId chosen = 0;
  if (next < goal.header.choices && args.state.words[kOff] == 0 && contains(args, goal.choices[next])) {
    chosen = goal.choices[next];
  } else {
    if (next < goal.header.choices) args.state.words[kOff] = 1;
    chosen = after_prefix(args, goal);
  }
  next++;
  if (next >= goal.header.choices) wake(args, goal, chosen);
  return {chosen, 0};
}

}  // namespace

extern const Policy kPrefixPolicy = {"prefix", "given choices, then no preemption", begin_run, choose};

}  // namespace reweave
