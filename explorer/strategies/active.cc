// active: active testing (ColFinder; Wu, Lu, Wang, Zhou, 2014). Threads are stopped before suspicious accesses until a
// second thread is about to execute the paired one on the same address; then the two run in the order that the pair
// asks for.
//
// The wait is logical: a thread stays until all others wait too, so nothing depends on time. Each thread stops only the
// first few times, otherwise loops would take up the whole run.
#include "explorer/strategies/choices.h"
#include "explorer/strategies/goals.h"

namespace reweave {

namespace {

constexpr std::uint64_t kSlots = 480;
constexpr std::uint64_t kMostStops = 4;  // per thread at suspicious sites, times the configured depth
// kMet: number of pairs that met. kHeld: thread + 1 of the second end of the last pair. kFirstObject, kFirstBytes:
// memory of the first end that was just executed. kReleased: by thread, the tick at which it may pass, plus one.
// kStops: by thread.
enum { kMet = 0, kHeld = 1, kFirstObject = 2, kFirstBytes = 3, kReleased = 8, kStops = kReleased + kSlots };

void begin_run(const PolicyConfig&, PolicyState& state) {
  for (std::uint64_t& word : state.words) word = 0;
}

bool suspicious(const ActivePair* pairs, std::uint64_t count, std::uint64_t pc, bool only_second) {
  for (std::uint64_t i = 0; i < count; i++)
    if ((!only_second && pairs[i].first == pc) || pairs[i].second == pc) return true;
  return false;
}

bool is_stopped(const ChoiceArgs& args, const ActivePair* pairs, std::uint64_t count, ThreadId id) {
  const Thread& thread = args.threads[id];
  if (args.state.words[kReleased + id % kSlots] == thread.ticks + 1) return false;
  if (args.state.words[kStops + id % kSlots] >= kMostStops * args.config.depth) return false;
  return suspicious(pairs, count, thread.op.pc, args.config.depth == kSecondLast);
}

void release(const ChoiceArgs& args, ThreadId id) {
  args.state.words[kReleased + id % kSlots] = args.threads[id].ticks + 1;
  args.state.words[kStops + id % kSlots]++;
}

// Finds the first enabled thread that is stopped at the pair's second end and conflicts with the operation of `first`.
bool find_partner(const ChoiceArgs& args, const ActivePair* pairs, std::uint64_t count, const ActivePair& pair,
                  ThreadId first, ThreadId& second) {
  for (std::uint32_t j = 0; j < args.count; j++) {
    second = args.enabled[j];
    if (second != first && args.threads[second].op.pc == pair.second &&
        conflicting(args.threads[first].op, args.threads[second].op) && is_stopped(args, pairs, count, second))
      return true;
  }
  return false;
}

// Finds two stopped threads that are at the ends of a pair.
bool find_met(const ChoiceArgs& args, const ActivePair* pairs, std::uint64_t count, ThreadId& first, ThreadId& second) {
  for (std::uint32_t i = 0; i < args.count; i++) {
    first = args.enabled[i];
    if (!is_stopped(args, pairs, count, first)) continue;
    for (std::uint64_t k = 0; k < count; k++)
      if (pairs[k].first == args.threads[first].op.pc && find_partner(args, pairs, count, pairs[k], first, second))
        return true;
  }
  return false;
}

// Finds a stopped thread that is about to use the memory just released.
bool find_user(const ChoiceArgs& args, const ActivePair* pairs, std::uint64_t count, ThreadId& user) {
  PendingOp first = {};
  first.object = args.state.words[kFirstObject];
  first.detail = static_cast<std::uint32_t>(args.state.words[kFirstBytes]);
  first.kind = OpKind::kOther;
  first.is_write = 1;
  if (first.object == 0) return false;
  for (std::uint32_t i = 0; i < args.count; i++) {
    user = args.enabled[i];
    if (is_stopped(args, pairs, count, user) && conflicting(first, args.threads[user].op)) return true;
  }
  return false;
}

void note_first(const ChoiceArgs& args, const ActivePair* pairs, std::uint64_t count, const PendingOp& op) {
  bool is_first = false;
  for (std::uint64_t i = 0; i < count; i++) is_first = is_first || pairs[i].first == op.pc;
  args.state.words[kFirstObject] = is_first ? op.object : 0;
  args.state.words[kFirstBytes] = op.detail;
}

ThreadId choose_any(const ChoiceArgs& args, const ActivePair* pairs, std::uint64_t count) {
  ThreadId first = 0, second = 0;
  if (args.config.depth != kSecondLast && find_met(args, pairs, count, first, second)) {
    args.state.words[kMet]++;
    args.state.words[kHeld] = second + 1u;
    release(args, first);
    return first;
  }
  // A thread that is not stopped, without preemption if possible.
  const ThreadId usual = without_preemption(args);
  // A thread that yields may wait in a loop for one that is stopped.
  if (args.yielded && usual != args.current.id) {
    release(args, usual);
    return usual;
  }
  if (!is_stopped(args, pairs, count, usual)) return usual;
  std::uint32_t others = 0;
  ThreadId chosen = usual;
  for (std::uint32_t i = 0; i < args.count; i++)
    if (!is_stopped(args, pairs, count, args.enabled[i]) && random_below(args.state, ++others) == 0)
      chosen = args.enabled[i];
  if (others > 0) return chosen;
  if (args.config.depth == kSecondLast) {
    chosen = args.enabled[args.config.seed % 2 == 0 ? args.count - 1 : 0];
    release(args, chosen);
    return chosen;
  }
  // All wait: the second thread of the last pair is released last.
  for (std::uint32_t i = 0; i < args.count; i++)
    if (args.enabled[i] + 1u != args.state.words[kHeld] && random_below(args.state, ++others) == 0)
      chosen = args.enabled[i];
  release(args, chosen);
  return chosen;
}

Choice choose(const ChoiceArgs& args) {
  const auto* pairs = reinterpret_cast<const ActivePair*>(args.goal);
  const std::uint64_t count = args.config.goal_bytes / sizeof(ActivePair);
  ThreadId user = 0;
  const bool second_last = args.config.depth == kSecondLast;
  if (second_last && find_user(args, pairs, count, user))
    release(args, user);
  else
    user = choose_any(args, pairs, count);
  if (second_last) note_first(args, pairs, count, args.threads[user].op);
  return {user, 0};
}

}  // namespace

extern const Policy kActivePolicy = {"active", "stops threads at suspicious accesses until two meet", begin_run,
                                     choose};

}  // namespace reweave
