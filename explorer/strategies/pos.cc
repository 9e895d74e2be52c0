// pos: partial order sampling (Yuan, Yang, Gu, CAV 2018). Each pending operation has a random priority and the highest
// runs; operations that conflict with the executed one draw again. So each partial order has about the same chance, no
// matter how many independent operations there are.
#include "explorer/strategies/choices.h"

namespace reweave {

namespace {

constexpr std::uint64_t kSlots = 1000;  // threads share priorities beyond that

void begin_run(const PolicyConfig&, PolicyState& state) {
  for (std::uint64_t& word : state.words) word = 0;
}

// The priority of the thread's pending operation; 0: not drawn yet.
std::uint64_t& priority(PolicyState& state, ThreadId thread) { return state.words[thread % kSlots]; }

Choice choose(const ChoiceArgs& args) {
  PolicyState& state = args.state;
  // A thread that yields waits for another: its operation goes to the end.
  if (args.yielded) priority(state, args.current.id) = 1;
  ThreadId best = args.enabled[0];
  for (std::uint32_t i = 0; i < args.count; i++) {
    const ThreadId id = args.enabled[i];
    if (priority(state, id) == 0) priority(state, id) = 2 + (next_random(state) >> 1);
    if (priority(state, id) > priority(state, best)) best = id;
  }
  const PendingOp& op = args.threads[best].op;
  for (std::uint32_t i = 0; i < args.count; i++)
    if (conflicting(op, args.threads[args.enabled[i]].op)) priority(state, args.enabled[i]) = 0;
  priority(state, best) = 0;
  return {best, 0};
}

}  // namespace

extern const Policy kPosPolicy = {"pos", "partial order sampling: each order of conflicting operations about as likely",
                                  begin_run, choose};

}  // namespace reweave
