// witness: follows a predicted sequence of operations, given as turns of threads. In its turn a thread runs up to the
// operation that ends the turn; what it does before that is not compared, so that a loop that turns more often, or
// memory at another address, does no harm. While the thread whose turn it is cannot run, who may help it does, without
// preemption, first those that have no turn left: they need not stop anywhere. A turn that does not come to its end
// within a bound is left out, and what follows it is tried.
#include "explorer/strategies/choices.h"
#include "explorer/strategies/goals.h"

namespace reweave {

namespace {

constexpr std::uint64_t kPatience = 5'000;  // schedule points that the thread of a turn is waited for
constexpr std::uint64_t kLater = 200;       // ... if the turn before was left out
constexpr std::uint64_t kMostYields = 100;  // of the thread in its turn, between arrivals

// WitnessProgress lies in the first words.
// kLeft: turns that a thread has left.
constexpr std::uint64_t kThreads = 500;  // whose turns are counted; others are taken to have none
enum {
  kWaited = sizeof(WitnessProgress) / 8,
  kArrivals,
  kCounted,
  kYields,
  kLeftKnown,
  kLeft,
  kUsed = kLeft + kThreads
};

void begin_run(const PolicyConfig&, PolicyState& state) {
  for (std::uint64_t i = 0; i < kUsed; i++) state.words[i] = 0;
}

void count_turns(PolicyState& state, const TurnGoal* turns, std::uint64_t count) {
  if (state.words[kLeftKnown] != 0) return;
  state.words[kLeftKnown] = 1;
  for (std::uint64_t i = 0; i < count; i++)
    if (turns[i].thread < kThreads) state.words[kLeft + turns[i].thread]++;
}

// The turn is over.
void end_turn(PolicyState& state, WitnessProgress& progress, const TurnGoal& turn) {
  state.words[kArrivals] = state.words[kCounted] = state.words[kYields] = 0;
  if (turn.thread < kThreads) state.words[kLeft + turn.thread]--;
  progress.next++;
}

ThreadId helper(const ChoiceArgs& args) {
  const auto is_free = [&](ThreadId id) { return id >= kThreads || args.state.words[kLeft + id] == 0; };
  if (args.current_enabled && !args.yielded && is_free(args.current.id)) return args.current.id;
  ThreadId best = 0;
  bool found = false;
  for (std::uint32_t i = 0; i < args.count; i++) {
    if (!is_free(args.enabled[i]) || times_out(args.threads[args.enabled[i]])) continue;
    if (!found || goes_before(args, args.enabled[i], best)) best = args.enabled[i];
    found = true;
  }
  return found ? best : without_preemption(args);
}

// The thread seems to wait in a loop. Long private work looks like that, too, so it has patience.
bool waits_in_loop(const ChoiceArgs& args, const TurnGoal& turn) {
  if (!args.yielded || args.current.id != turn.thread || args.threads[turn.thread].op.pc == turn.pc) return false;
  return args.state.words[kYields]++ >= kMostYields;
}

WitnessObstacle obstacle_of(const ChoiceArgs& args, const TurnGoal& turn) {
  const Thread& thread = args.threads[turn.thread];
  if (!contains(args, turn.thread)) {
    const bool waits = thread.state.load() == ThreadState::kBlocked;
    return waits ? WitnessObstacle::kWaits : WitnessObstacle::kNotThere;
  }
  return waits_in_loop(args, turn) ? WitnessObstacle::kWaits : WitnessObstacle::kNone;
}

// Counts the thread's arrival at the operation that ends its turn. Going on with an operation in which it had blocked
// is no new arrival.
void count_arrival(PolicyState& state, WitnessProgress& progress, const TurnGoal& turn, const Thread& thread) {
  if (thread.op.pc != turn.pc || state.words[kCounted] == thread.ticks + 1) return;
  state.words[kCounted] = thread.ticks + 1;
  state.words[kYields] = 0;
  if (++state.words[kArrivals] >= turn.arrivals) end_turn(state, progress, turn);
}

void leave_out(PolicyState& state, WitnessProgress& progress, const TurnGoal& turn) {
  if (progress.skipped++ == 0) progress.first_skipped = progress.next;
  end_turn(state, progress, turn);
  state.words[kWaited] = kPatience - kLater;
}

Choice choose(const ChoiceArgs& args) {
  if (args.goal == nullptr) return {without_preemption(args), 0};
  const auto* turns = reinterpret_cast<const TurnGoal*>(args.goal);
  const std::uint64_t count = args.config.goal_bytes / sizeof(TurnGoal);
  auto& progress = *reinterpret_cast<WitnessProgress*>(args.state.words.begin());
  count_turns(args.state, turns, count);
  while (progress.next < count) {
    const TurnGoal& turn = turns[progress.next];
    const WitnessObstacle obstacle = obstacle_of(args, turn);
    if (progress.skipped == 0)
      progress.obstacle =
          static_cast<std::uint64_t>(obstacle == WitnessObstacle::kNone ? WitnessObstacle::kElsewhere : obstacle);
    if (obstacle == WitnessObstacle::kNone) {
      args.state.words[kWaited] = 0;
      count_arrival(args.state, progress, turn, args.threads[turn.thread]);
      return {turn.thread, 0};
    }
    const bool ended = args.threads[turn.thread].state.load() == ThreadState::kExited;
    if (!ended && args.state.words[kWaited]++ < kPatience) return {helper(args), 0};
    leave_out(args.state, progress, turn);
  }
  return {without_preemption(args), 0};
}

}  // namespace

extern const Policy kWitnessPolicy = {"witness", "follows the witness of a predicted candidate", begin_run, choose};

}  // namespace reweave
