// schedule: a given list of switches, and otherwise no preemption. What minimisation runs.
//
// A switch is named by a thread and how many schedule points it has executed, so that leaving one switch out does
// not rename the others.
#include "explorer/strategies/goals.h"
#include "recorder/policy.h"

namespace reweave {

namespace {

enum { kNext = 0 };

void begin_run(const PolicyConfig&, PolicyState& state) { state.words[kNext] = 0; }

bool contains(const ChoiceArgs& args, ThreadId thread) {
  for (std::uint32_t i = 0; i < args.count; i++)
    if (args.enabled[i] == thread) return true;
  return false;
}

Choice choose(const ChoiceArgs& args) {
  const auto* steps = reinterpret_cast<const ScheduleStep*>(args.goal);
  const std::uint64_t count = args.config.goal_bytes / sizeof(ScheduleStep);
  const Thread& current = args.current;
  for (std::uint64_t& next = args.state.words[kNext]; next < count; next++) {
    const ScheduleStep& step = steps[next];
    // Wait for the thread and the point that the next switch names.
    if (step.thread == current.id && step.tick > current.ticks) break;
    if (step.thread != current.id && args.current_enabled && !args.yielded) break;
    // Another thread's, or one that this thread is past already: it cannot come about any more.
    if (step.thread != current.id || step.tick < current.ticks) continue;
    if (!contains(args, step.to)) continue;
    next++;
    return {step.to, 0};
  }
  if (args.current_enabled && !args.yielded) return {current.id, 0};
  // Blocked or yielding: round robin, so that a thread that waits for another gets there.
  for (std::uint32_t i = 0; i < args.count; i++)
    if (args.enabled[i] > current.id) return {args.enabled[i], 0};
  return {args.enabled[0], 0};
}

}  // namespace

extern const Policy kSchedulePolicy = {"schedule", "a given list of switches, otherwise no preemption", begin_run,
                                       choose};

}  // namespace reweave
