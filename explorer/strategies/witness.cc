// witness: follows a predicted sequence of operations. A thread whose next operation is not its turn waits. While the
// thread of the next step cannot run, who may help it does, without preemption; a step that does not come about within
// a bound is left out, and what follows it is tried.
#include "explorer/strategies/choices.h"
#include "explorer/strategies/goals.h"

namespace reweave {

namespace {

constexpr std::uint64_t kPatience = 5'000;  // schedule points that a step is waited for
constexpr std::uint64_t kLater = 200;       // ... if the one before it was left out

// WitnessProgress lies in the first words.
enum { kWaited = sizeof(WitnessProgress) / 8, kChoices = kWaited + 1, kUsed = kChoices + 1 };

void begin_run(const PolicyConfig&, PolicyState& state) {
  for (std::uint64_t i = 0; i < kUsed; i++) state.words[i] = 0;
}

WitnessObstacle obstacle_of(const ChoiceArgs& args, const WitnessGoal& goal) {
  const Thread& thread = args.threads[goal.thread];
  if (!contains(args, goal.thread)) {
    const bool waits = thread.state.load() == ThreadState::kBlocked;
    return waits ? WitnessObstacle::kWaits : WitnessObstacle::kNotThere;
  }
  if (times_out(thread)) return WitnessObstacle::kWaits;
  if (thread.op.pc == goal.pc) return WitnessObstacle::kNone;
  // Waiting in a loop: others run.
  return args.yielded && args.current.id == goal.thread ? WitnessObstacle::kWaits : WitnessObstacle::kElsewhere;
}

// The step is not made; that its obstacle is known, `choose` has seen to.
void leave_out(PolicyState& state, WitnessProgress& progress) {
  if (progress.skipped++ == 0) progress.first_skipped = progress.next;
  progress.next++;
  state.words[kWaited] = kPatience - kLater;
}

Choice choose(const ChoiceArgs& args) {
  if (args.goal == nullptr) return {without_preemption(args), 0};
  const auto& header = *reinterpret_cast<const WitnessHeader*>(args.goal);
  const auto* choices = reinterpret_cast<const ThreadId*>(&header + 1);
  const auto* goals = reinterpret_cast<const WitnessGoal*>(args.goal + sizeof header + round_to(header.choices * 2, 8));
  std::uint64_t& made = args.state.words[kChoices];
  if (made < header.choices && contains(args, choices[made])) return {choices[made++], 0};
  made = header.choices;
  auto& progress = *reinterpret_cast<WitnessProgress*>(args.state.words.begin());
  while (progress.next < header.steps) {
    const WitnessGoal& goal = goals[progress.next];
    const WitnessObstacle obstacle = obstacle_of(args, goal);
    if (obstacle == WitnessObstacle::kNone) {
      progress.next++;
      args.state.words[kWaited] = 0;
      return {goal.thread, 0};
    }
    if (progress.skipped == 0) progress.obstacle = static_cast<std::uint64_t>(obstacle);
    const bool ended = args.threads[goal.thread].state.load() == ThreadState::kExited;
    if (!ended && args.state.words[kWaited]++ < kPatience)
      return {obstacle == WitnessObstacle::kElsewhere ? goal.thread : without_preemption(args), 0};
    leave_out(args.state, progress);
  }
  return {without_preemption(args), 0};
}

}  // namespace

extern const Policy kWitnessPolicy = {"witness", "follows the witness of a predicted candidate", begin_run, choose};

}  // namespace reweave
