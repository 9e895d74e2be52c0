// surw: selectively uniform random walk (Zhao, Wolff, Mathur, Roychoudhury, ASPLOS 2025).
//
// Every order of the tracked operations (of one variable, for example) has the same chance: the thread of the next
// tracked operation is drawn in proportion to how many it has left, and the other threads are held before theirs. In
// between the walk is uniform. Counts come from earlier runs; a thread that does not exist yet lends its count to the
// living thread with the next lower number, in place of its creator. Threads beyond the first kSlots have no count:
// their tracked operations come when all others have used up theirs.
#include "explorer/strategies/choices.h"
#include "explorer/strategies/goals.h"

namespace reweave {

namespace {

constexpr std::uint64_t kSlots = 1000;
enum { kIntended = 0, kStarted = 1, kLeft = 8 };  // kIntended: thread + 1

void begin_run(const PolicyConfig&, PolicyState& state) { state.words[kIntended] = state.words[kStarted] = 0; }

struct Goal {
  const SiteGoal* header;
  std::uint64_t threads;  // threads that have a count
  const std::uint32_t* weights;
  const std::uint64_t* sites;
};

Goal goal_of(const ChoiceArgs& args) {
  const auto* header = reinterpret_cast<const SiteGoal*>(args.goal);
  const auto* weights = reinterpret_cast<const std::uint32_t*>(header + 1);
  const std::uint64_t words = header->threads + 2 * std::uint64_t{header->changes};
  const std::uint64_t counted = header->threads < kSlots ? header->threads : kSlots;
  return {header, counted, weights, reinterpret_cast<const std::uint64_t*>(weights + (words + 1) / 2 * 2)};
}

bool tracked(const Goal& goal, const PendingOp& op) {
  return goal.header->sites == 0 || sorted_contains(goal.sites, goal.header->sites, op.pc);
}

bool lives(const ChoiceArgs& args, std::uint64_t id) {
  const ThreadState state = args.threads[id].state.load();
  return state != ThreadState::kUnused && state != ThreadState::kExited;
}

// Draws the thread of the next tracked operation. Returns the thread + 1, or 0 if the counts are used up.
std::uint64_t draw(const ChoiceArgs& args, const Goal& goal) {
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < goal.threads; i++) total += args.state.words[kLeft + i];
  if (total == 0) return 0;
  std::uint64_t at = random_below(args.state, total), heir = 0;
  for (std::uint64_t i = 0; i < goal.threads; i++) {
    if (lives(args, i)) heir = i + 1;
    if (at < args.state.words[kLeft + i]) return args.threads[i].state.load() == ThreadState::kUnused ? heir : i + 1;
    at -= args.state.words[kLeft + i];
  }
  return 0;
}

Choice choose(const ChoiceArgs& args) {
  PolicyState& state = args.state;
  if (args.goal == nullptr) return {args.enabled[random_below(state, args.count)], 0};
  const Goal goal = goal_of(args);
  if (state.words[kStarted] == 0) {
    state.words[kStarted] = 1;
    for (std::uint64_t i = 0; i < goal.threads; i++) state.words[kLeft + i] = goal.weights[i];
  }
  std::uint64_t& intended = state.words[kIntended];
  // A thread that yields may wait for one that is held.
  if (args.yielded) intended = 0;
  if (intended == 0) intended = draw(args, goal);
  std::uint32_t free = 0;
  ThreadId chosen = args.enabled[0];
  for (std::uint32_t i = 0; i < args.count; i++) {
    const ThreadId id = args.enabled[i];
    if (args.yielded && id == args.current.id && args.count > 1) continue;
    if (intended != id + 1u && tracked(goal, args.threads[id].op)) continue;
    if (random_below(state, ++free) == 0) chosen = id;
  }
  // All threads are held for one that cannot run.
  if (free == 0) chosen = args.enabled[random_below(state, args.count)];
  if (tracked(goal, args.threads[chosen].op)) {
    intended = 0;
    if (chosen < goal.threads && state.words[kLeft + chosen] > 0) state.words[kLeft + chosen]--;
  }
  return {chosen, 0};
}

}  // namespace

extern const Policy kSurwPolicy = {"surw", "each order of one variable's accesses equally likely", begin_run, choose};

}  // namespace reweave
