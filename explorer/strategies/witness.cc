// witness: follows a predicted sequence of operations. A thread whose next operation is not its turn waits; when the
// sequence is finished, or cannot be followed because its thread is blocked, the run goes on without preemption.
#include "explorer/strategies/choices.h"
#include "explorer/strategies/goals.h"

namespace reweave {

namespace {

// kLost: how often the sequence could not be followed.
enum { kNext = 0, kLost = 1 };

void begin_run(const PolicyConfig&, PolicyState& state) { state.words[kNext] = state.words[kLost] = 0; }

Choice choose(const ChoiceArgs& args) {
  const auto* goals = reinterpret_cast<const WitnessGoal*>(args.goal);
  const std::uint64_t count = args.config.goal_bytes / sizeof(WitnessGoal);
  std::uint64_t& next = args.state.words[kNext];
  if (next >= count) return {without_preemption(args), 0};
  const WitnessGoal& goal = goals[next];
  const bool spins = args.yielded && args.current.id == goal.thread && args.current.op.pc != goal.pc;
  if (!contains(args, goal.thread) || times_out(args.threads[goal.thread]) || spins) {
    // Not yet born, blocked, or waiting in a loop: whoever may help it runs.
    args.state.words[kLost]++;
    return {without_preemption(args), 0};
  }
  if (args.threads[goal.thread].op.pc == goal.pc) next++;
  return {goal.thread, 0};
}

}  // namespace

extern const Policy kWitnessPolicy = {"witness", "follows the witness of a predicted candidate", begin_run, choose};

}  // namespace reweave
