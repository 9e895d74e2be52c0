// handover: a thread that is woken from a wait runs only when the threads that were not waiting cannot, and the thread
// that woke it gives way too. So what it was woken for may be gone when it looks: lost items, a notification that wakes
// the wrong thread, `if` where `while` is needed.
//
// Threads of one role (created at one place) have the same priority, so that all consumers come before all producers,
// or the other way round. There is no other preemption. The policy needs no knowledge of the program, so it can be used
// from the first run on. The bits of the configured depth select variants.
#include "explorer/strategies/choices.h"

namespace reweave {

namespace {

// Bits of PolicyConfig::depth.
constexpr std::uint64_t kLaterRolesFirst = 1;  // a role that appears later goes before earlier ones
constexpr std::uint64_t kCreatorsFirst = 2;    // a thread goes before those that it creates
constexpr std::uint64_t kWakersLast = 4;       // a thread that wakes another goes after it
constexpr std::uint64_t kPeersApart = 8;       // every second thread of a role goes after all that have not given way

constexpr std::uint64_t kSlots = 400;  // threads share priorities beyond that
constexpr std::uint64_t kRoles = 60;   // roles share numbers beyond that
enum {
  kSeenThreads = 0,
  kLowest = 1,     // the lowest priority of a thread that was woken or gave way
  kCreatedAt = 2,  // where the last thread was created
  kKnownRoles = 3,
  kRoleBase = 8,                       // by role: the place where its threads are created
  kMembersBase = kRoleBase + kRoles,   // by role: the number of its threads so far
  kWaitsBase = kMembersBase + kRoles,  // by thread: arrival number of the last wait from which it was woken
  kPriorities = kWaitsBase + kSlots
};
static_assert(kPriorities + kSlots <= PolicyWords::kCount);

// Priorities: kCreator, if creators go first; a number for each role above kMiddle; kMiddle, the first thread; below it
// another for each role, if peers are apart; and below kMiddle - kRoles the threads that were woken or gave way.
constexpr std::uint64_t kMiddle = std::uint64_t{1} << 32, kCreator = kMiddle + kRoles + 1;

void begin_run(const PolicyConfig& config, PolicyState& state) {
  for (std::uint64_t& word : state.words) word = 0;
  state.words[kLowest] = kMiddle - kRoles - 1;
  for (std::uint64_t i = 0; i < kSlots; i++)
    state.words[kPriorities + i] = (config.depth & kCreatorsFirst) != 0 ? kCreator : kMiddle;
}

std::uint64_t& priority(PolicyState& state, ThreadId thread) { return state.words[kPriorities + thread % kSlots]; }
std::uint64_t& waits(PolicyState& state, ThreadId thread) { return state.words[kWaitsBase + thread % kSlots]; }

std::uint64_t role_of(PolicyState& state, std::uint64_t place) {
  std::uint64_t& known = state.words[kKnownRoles];
  for (std::uint64_t i = 0; i < known; i++)
    if (state.words[kRoleBase + i] == place) return i;
  if (known == kRoles) return kRoles - 1;
  state.words[kRoleBase + known] = place;
  return known++;
}

// True if the thread was woken from a wait for something that another thread announces, and has not run since.
bool is_woken(const Thread& thread) {
  if (thread.state.load() != ThreadState::kReady) return false;
  const WaitKind kind = thread.wait.kind;
  return kind == WaitKind::kCondition || kind == WaitKind::kSemaphore || kind == WaitKind::kFutex;
}

// Gives new threads their priorities.
void welcome(const ChoiceArgs& args) {
  PolicyState& state = args.state;
  std::uint64_t& seen = state.words[kSeenThreads];
  const std::uint64_t depth = args.config.depth;
  for (std::uint32_t i = 0; i < args.count; i++) {
    const ThreadId id = args.enabled[i];
    if (id < seen) continue;
    seen = id + 1u;
    if (state.words[kCreatedAt] == 0) continue;  // the program's first thread
    const std::uint64_t role = role_of(state, state.words[kCreatedAt]);
    const bool is_second = state.words[kMembersBase + role]++ % 2 == 1;
    const bool apart = (depth & kPeersApart) != 0 && is_second;
    const std::uint64_t rank = (depth & kLaterRolesFirst) != 0 ? role : kRoles - 1 - role;
    priority(state, id) = apart ? kMiddle - kRoles + rank : kMiddle + 1 + rank;
  }
}

// Lets threads that were woken by the last operation go after all others. True if there are any.
bool demote_woken(const ChoiceArgs& args) {
  PolicyState& state = args.state;
  bool any = false;
  for (std::uint32_t i = 0; i < args.count; i++) {
    const Thread& thread = args.threads[args.enabled[i]];
    if (!is_woken(thread) || waits(state, thread.id) == thread.wait.order) continue;
    waits(state, thread.id) = thread.wait.order;
    priority(state, thread.id) = --state.words[kLowest];
    any = true;
  }
  return any;
}

Choice choose(const ChoiceArgs& args) {
  PolicyState& state = args.state;
  const ThreadId me = args.current.id;
  const auto lowest = [&] { return --state.words[kLowest]; };
  welcome(args);
  const std::uint64_t ahead_of_woken = lowest();
  if (demote_woken(args)) priority(state, me) = (args.config.depth & kWakersLast) != 0 ? lowest() : ahead_of_woken;
  if (args.yielded) priority(state, me) = lowest();
  ThreadId chosen = highest(args, priority);
  if (args.current_enabled && priority(state, me) == priority(state, chosen)) chosen = me;
  const PendingOp& op = args.threads[chosen].op;
  if (op.kind == OpKind::kCreate) state.words[kCreatedAt] = op.pc;
  return {chosen, 0};
}

}  // namespace

extern const Policy kHandoverPolicy = {
    "handover", "a woken thread, and the one that woke it, run after all others that can", begin_run, choose};

}  // namespace reweave
