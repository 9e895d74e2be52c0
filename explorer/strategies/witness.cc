// witness: follows a predicted sequence of operations, given as turns of threads. In its turn a thread runs up to the
// operation that ends the turn. Its earlier operations are not compared, so more iterations of a loop, or memory at
// another address, are harmless. While the thread of the turn cannot run, threads that may help it run without
// preemption: first those without turns left, which need not stop anywhere, then those that have not yet reached the
// end of their next turn. The thread of the previous turn continues only if no other thread can. A turn that does not
// end within a bound is left out, and the next one is tried.
#include "explorer/strategies/choices.h"
#include "explorer/strategies/goals.h"

namespace reweave {

namespace {

constexpr std::uint64_t kPatience = 5'000;  // schedule points to wait for the thread of a turn
constexpr std::uint64_t kLater = 200;       // ... if the previous turn was left out
constexpr std::uint64_t kMostYields = 100;  // of the thread in its turn, between arrivals

// The first words hold WitnessProgress. kLeft: remaining turns of each thread.
constexpr std::uint64_t kThreads = 500;  // threads whose turns are counted; others count as having none
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

// Ends the current turn.
void end_turn(PolicyState& state, WitnessProgress& progress, const TurnGoal& turn) {
  state.words[kArrivals] = state.words[kCounted] = state.words[kYields] = 0;
  if (turn.thread < kThreads) state.words[kLeft + turn.thread]--;
  progress.next++;
}

// The remaining turns.
struct Rest {
  const TurnGoal* turns;
  std::uint64_t next, count;

  // The thread of the previous turn. The witness may need it to stay there, even if it has no more turns.
  ThreadId last() const { return next > 0 ? turns[next - 1].thread : kAnyThread; }
  // True if the thread is about to execute the operation that ends its next turn.
  bool awaits_turn(const Thread& thread) const {
    for (std::uint64_t i = next; i < count; i++)
      if (turns[i].thread == thread.id) return turns[i].pc == thread.op.pc;
    return false;
  }
};

// The first thread in the default order for which `may_help` is true, preferably the current one; kAnyThread if there
// is none.
template <typename Condition>
ThreadId first_that(const ChoiceArgs& args, const Condition& may_help) {
  if (args.current_enabled && !args.yielded && may_help(args.current.id)) return args.current.id;
  ThreadId best = kAnyThread;
  for (std::uint32_t i = 0; i < args.count; i++)
    if (may_help(args.enabled[i]) && (best == kAnyThread || goes_before(args, args.enabled[i], best)))
      best = args.enabled[i];
  return best;
}

ThreadId helper(const ChoiceArgs& args, const Rest& rest) {
  const auto is_free = [&](ThreadId id) { return id >= kThreads || args.state.words[kLeft + id] == 0; };
  const auto may_go = [&](ThreadId id) { return id != rest.last() && !times_out(args.threads[id]); };
  const ThreadId free = first_that(args, [&](ThreadId id) { return may_go(id) && is_free(id); });
  if (free != kAnyThread) return free;
  const ThreadId other =
      first_that(args, [&](ThreadId id) { return may_go(id) && !rest.awaits_turn(args.threads[id]); });
  return other != kAnyThread ? other : without_preemption(args);
}

// True if the thread seems to wait in a loop. Long private work looks the same, so this takes many yields.
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

// Counts the thread's arrival at the operation that ends its turn. Resuming an operation in which it blocked is not a
// new arrival.
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
    if (!ended && args.state.words[kWaited]++ < kPatience) return {helper(args, {turns, progress.next, count}), 0};
    leave_out(args.state, progress, turn);
  }
  return {without_preemption(args), 0};
}

}  // namespace

extern const Policy kWitnessPolicy = {"witness", "follows the witness of a predicted candidate", begin_run, choose};

}  // namespace reweave
