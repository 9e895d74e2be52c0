// priorities: given priorities of threads, and given changes of them at tracked points. The highest thread that can run
// runs. The searches pctvb and ranked (Bindal, Bansal, Lal, 2012) use it.
#include "explorer/strategies/choices.h"
#include "explorer/strategies/goals.h"

namespace reweave {

namespace {

// kSeen: tracked points so far. kFallen: the lowest priority given to a thread that yielded.
enum { kSeen = 0, kFallen = 1, kStarted = 2, kPriorities = 8 };
constexpr std::uint64_t kSlots = 1000;
constexpr std::uint64_t kMiddle = std::uint64_t{1} << 40;  // given priorities are above it

void begin_run(const PolicyConfig&, PolicyState& state) {
  state.words[kSeen] = state.words[kStarted] = 0;
  state.words[kFallen] = kMiddle;
}

std::uint64_t& priority(PolicyState& state, ThreadId thread) { return state.words[kPriorities + thread % kSlots]; }

void start(const ChoiceArgs& args, const SiteGoal& goal, const std::uint32_t* priorities) {
  args.state.words[kStarted] = 1;
  for (std::uint64_t i = 0; i < kSlots; i++)
    args.state.words[kPriorities + i] =
        kMiddle + (i < goal.threads ? priorities[i] : 1 + random_below(args.state, 1 << 20));
}

Choice choose(const ChoiceArgs& args) {
  const auto& goal = *reinterpret_cast<const SiteGoal*>(args.goal);
  const auto* priorities = reinterpret_cast<const std::uint32_t*>(&goal + 1);
  const auto* changes = reinterpret_cast<const PriorityChange*>(priorities + goal.threads);
  const auto* sites =
      reinterpret_cast<const std::uint64_t*>(priorities + (goal.threads + 2 * std::uint64_t{goal.changes} + 1) / 2 * 2);
  PolicyState& state = args.state;
  if (state.words[kStarted] == 0) start(args, goal, priorities);
  if (args.yielded) {
    priority(state, args.current.id) = --state.words[kFallen];
  } else if (args.current_enabled && (goal.sites == 0 || sorted_contains(sites, goal.sites, args.current.op.pc))) {
    const std::uint64_t index = ++state.words[kSeen];
    for (std::uint64_t i = 0; i < goal.changes; i++)
      if (changes[i].index == index) priority(state, args.current.id) = kMiddle + changes[i].priority;
  }
  return {highest(args, priority), 0};
}

}  // namespace

extern const Policy kPrioritiesPolicy = {"priorities", "given priorities, changed at given points", begin_run, choose};

}  // namespace reweave
