// guided: a schedule for a part of the run, then another policy, with orders and regions that must hold all the time.
// Interventions in a schedule use it.
//
// An order or a region holds threads back by hiding them from the policy that chooses. If only threads that are held
// back or wait in loops are left, the orders and regions that hold them are given up and counted: the requested
// schedule is not feasible.
#include "explorer/strategies/choices.h"
#include "explorer/strategies/goals.h"

namespace reweave {

extern const Policy kSchedulePolicy;

namespace {

// With more enabled threads nothing is filtered, and the orders count as given up.
constexpr std::uint32_t kMostEnabled = 512;
constexpr std::uint64_t kMostYields = 2'000;  // of others, while a thread is held back
constexpr std::uint32_t kOwners = 8;          // threads in a region at the same time

// The first words hold GuideProgress. An endpoint of an order takes two words, an owner of a region four.
enum {
  kChoices = sizeof(GuideProgress) / 8,
  kYields,
  kContinued,
  kGivenUp,  // bits: orders
  kEndpoints,
  kRegions = kEndpoints + kMostOrders * 4,
  kUsed = kRegions + kMostRegions * kOwners * 4
};
static_assert(kUsed <= PolicyWords::kCount);

struct Goal {
  const GuidedGoal& header;
  const OrderGoal* orders;
  const RegionGoal* regions;
  const std::byte* inner;  // goal of the continuation
  const ScheduleStep* switches;
};

Goal goal_of(const ChoiceArgs& args) {
  const auto& header = *reinterpret_cast<const GuidedGoal*>(args.goal);
  const auto* orders = reinterpret_cast<const OrderGoal*>(&header + 1);
  const auto* regions = reinterpret_cast<const RegionGoal*>(orders + header.orders);
  const auto* inner = reinterpret_cast<const std::byte*>(regions + header.regions);
  const std::size_t padded = (std::size_t{header.goal_bytes} + 7) / 8 * 8;
  return {header, orders, regions, inner, reinterpret_cast<const ScheduleStep*>(inner + padded)};
}

// `count`: the number of times that an endpoint was reached. `last`: the thread that last reached it and its ticks at
// that time, packed, plus one.
struct Endpoint {
  std::uint64_t& count;
  std::uint64_t& last;

  static Endpoint at(PolicyState& state, std::uint32_t order, bool then) {
    const std::size_t word = kEndpoints + order * 4 + (then ? 2 : 0);
    return {state.guide[word], state.guide[word + 1]};
  }
  bool is_pending(const Thread& thread) const { return last == key(thread); }
  static std::uint64_t key(const Thread& thread) { return (thread.ticks << 16 | thread.id) + 1; }
  ThreadId thread() const { return static_cast<ThreadId>((last - 1) & 0xffff); }
};

bool is_at(const Arrival& arrival, const Thread& thread) {
  return thread.op.pc == arrival.pc && (arrival.thread == kAnyThread || arrival.thread == thread.id);
}

// The number of the arrival that counts; for kAnyThread that is the first.
std::uint64_t wanted(const Arrival& arrival) { return arrival.thread == kAnyThread ? 1 : arrival.number; }

// Resuming an operation in which a thread blocked is not a new arrival. After the arrival that counts, the endpoint
// does not change.
void count_arrival(Endpoint endpoint, const Arrival& arrival, const Thread& thread) {
  if (!is_at(arrival, thread) || endpoint.is_pending(thread) || endpoint.count >= wanted(arrival)) return;
  endpoint.count++;
  endpoint.last = Endpoint::key(thread);
}

// A wait counts as executed when the thread blocks in it, because it may depend on what others do then.
bool has_begun_wait(const Thread& thread) {
  return thread.op.kind == OpKind::kWait && thread.state.load() == ThreadState::kBlocked;
}

bool was_executed(const ChoiceArgs& args, const Arrival& arrival, Endpoint endpoint) {
  if (endpoint.count < wanted(arrival)) return false;
  const Thread& thread = args.threads[endpoint.thread()];
  return !endpoint.is_pending(thread) || thread.state.load() == ThreadState::kExited || has_begun_wait(thread);
}

bool held_by_order(const ChoiceArgs& args, const Goal& goal, std::uint32_t i, const Thread& thread) {
  if ((args.state.guide[kGivenUp] >> i & 1) != 0) return false;
  const OrderGoal& order = goal.orders[i];
  if (!is_at(order.then, thread)) return false;
  const Endpoint then = Endpoint::at(args.state, i, true);
  const bool is_it = order.then.thread == kAnyThread || (then.count == order.then.number && then.is_pending(thread));
  return is_it && !was_executed(args, order.first, Endpoint::at(args.state, i, false));
}

// A thread inside a region.
struct Owner {
  std::uint64_t* words;
  bool is_free() const { return words[0] == 0; }
  ThreadId thread() const { return static_cast<ThreadId>(words[0] - 1); }
  PendingOp object() const {  // as a write, so that reads also conflict
    return {words[1], 0, OpKind::kAccess, 1, 0, static_cast<std::uint32_t>(words[2])};
  }
  // Ticks of the thread when it reached the end, plus one; 0: it has not.
  std::uint64_t& ending() const { return words[3]; }
  void enter(const Thread& thread) const {
    words[0] = thread.id + std::uint64_t{1};
    words[1] = thread.op.object;
    words[2] = is_memory(thread.op) ? thread.op.detail : 0;
    words[3] = 0;
  }
  void leave() const { words[0] = 0; }
};

Owner owner(PolicyState& state, std::uint32_t region, std::uint32_t i) {
  return {&state.guide[kRegions + (region * kOwners + i) * 4]};
}

bool concerns(const PendingOp& op, const PendingOp& object) {
  return is_memory(op) ? conflicting(op, object) : op.object != 0 && op.object == object.object;
}

// A thread may always release a lock: if it holds the lock that begins the region, the owner still waits for it.
bool held_by_region(const ChoiceArgs& args, const RegionGoal& goal, std::uint32_t region, const Thread& thread) {
  bool is_rival = false;
  for (const std::uint64_t pc : goal.rivals) is_rival = is_rival || (pc != 0 && thread.op.pc == pc);
  for (std::uint32_t i = 0; i < kOwners; i++) {
    const Owner each = owner(args.state, region, i);
    if (each.is_free() || each.thread() == thread.id) continue;
    const bool uses_object = goal.by_object != 0 && concerns(thread.op, each.object());
    if (is_rival || (uses_object && thread.op.kind != OpKind::kUnlock)) return true;
  }
  return false;
}

bool is_held(const ChoiceArgs& args, const Goal& goal, const Thread& thread) {
  for (std::uint32_t i = 0; i < goal.header.orders; i++)
    if (held_by_order(args, goal, i, thread)) return true;
  for (std::uint32_t i = 0; i < goal.header.regions; i++)
    if (held_by_region(args, goal.regions[i], i, thread)) return true;
  return false;
}

void note_arrivals(const ChoiceArgs& args, const Goal& goal) {
  for (std::uint32_t order = 0; order < goal.header.orders; order++)
    for (std::uint32_t i = 0; i < args.count; i++) {
      const Thread& thread = args.threads[args.enabled[i]];
      count_arrival(Endpoint::at(args.state, order, false), goal.orders[order].first, thread);
      count_arrival(Endpoint::at(args.state, order, true), goal.orders[order].then, thread);
    }
}

// Threads that have executed the end of their region, or have ended, leave it.
void leave_regions(const ChoiceArgs& args, const Goal& goal) {
  for (std::uint32_t region = 0; region < goal.header.regions; region++)
    for (std::uint32_t i = 0; i < kOwners; i++) {
      const Owner each = owner(args.state, region, i);
      if (each.is_free()) continue;
      const Thread& thread = args.threads[each.thread()];
      const bool executed = each.ending() != 0 && (each.ending() != thread.ticks + 1 || has_begun_wait(thread));
      if (executed || thread.state.load() == ThreadState::kExited)
        each.leave();
      else if (thread.op.pc == goal.regions[region].end && each.ending() == 0 && thread.id == args.current.id)
        each.ending() = thread.ticks + 1;
    }
}

void enter_region(const ChoiceArgs& args, std::uint32_t region, const Thread& chosen) {
  std::uint32_t free = kOwners;
  for (std::uint32_t i = kOwners; i-- > 0;) {
    const Owner each = owner(args.state, region, i);
    if (each.is_free())
      free = i;
    else if (each.thread() == chosen.id)
      return;
  }
  if (free < kOwners) owner(args.state, region, free).enter(chosen);
}

// The chosen thread executes its operation next, so it enters or ends its regions here, even if it was not running
// before.
void enter_or_end_regions(const ChoiceArgs& args, const Goal& goal, const Thread& chosen) {
  for (std::uint32_t region = 0; region < goal.header.regions; region++) {
    if (chosen.op.pc == goal.regions[region].begin) enter_region(args, region, chosen);
    if (chosen.op.pc != goal.regions[region].end) continue;
    for (std::uint32_t i = 0; i < kOwners; i++) {
      const Owner each = owner(args.state, region, i);
      if (!each.is_free() && each.thread() == chosen.id && each.ending() == 0) each.ending() = chosen.ticks + 1;
    }
  }
}

void let_go(const ChoiceArgs& args, const Goal& goal) {
  auto& progress = *reinterpret_cast<GuideProgress*>(args.state.guide.begin());
  progress.let_go++;
  args.state.guide[kYields] = 0;
  bool assumed = false;
  for (std::uint32_t i = 0; i < args.count; i++)
    for (std::uint32_t order = 0; order < goal.header.orders; order++)
      if (held_by_order(args, goal, order, args.threads[args.enabled[i]])) {
        args.state.guide[kGivenUp] |= std::uint64_t{1} << order;
        assumed = assumed || order >= goal.header.held_orders_from;
      }
  for (std::uint32_t region = 0; region < goal.header.regions; region++)
    for (std::uint32_t i = 0; i < kOwners; i++) {
      const Owner each = owner(args.state, region, i);
      assumed = assumed || (!each.is_free() && region >= goal.header.held_regions_from);
      each.leave();
    }
  progress.held_let_go += assumed ? 1 : 0;
}

// Writes the threads that are not held back to `left`, and returns their number. 0: everything was given up, because
// all threads were held back or the others only waited in loops.
std::uint32_t leave_out_held(const ChoiceArgs& args, const Goal& goal, ThreadId* left) {
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < args.count && i < kMostEnabled; i++)
    if (!is_held(args, goal, args.threads[args.enabled[i]])) left[count++] = args.enabled[i];
  const bool vain = count < args.count && args.yielded && args.state.guide[kYields]++ > kMostYields;
  if (count != 0 && !vain && args.count <= kMostEnabled) return count;
  let_go(args, goal);
  return 0;
}

// The thread for which an order waits. While a schedule is followed, it runs first, so that little else changes.
// kAnyThread if there is none.
ThreadId awaited(const ChoiceArgs& args, const Goal& goal, const ThreadId* left, std::uint32_t count) {
  for (std::uint32_t order = 0; order < goal.header.orders; order++) {
    const ThreadId thread = goal.orders[order].first.thread;
    bool holds = false, can_run = false;
    for (std::uint32_t i = 0; i < args.count; i++)
      holds = holds || held_by_order(args, goal, order, args.threads[args.enabled[i]]);
    for (std::uint32_t i = 0; i < count; i++) can_run = can_run || left[i] == thread;
    if (holds && can_run) return thread;
  }
  return kAnyThread;
}

// The policy of the current part of the run; the continuation is initialised when its part begins.
const Policy& policy_now(const ChoiceArgs& args, const Goal& goal) {
  if (args.state.guide[kChoices]++ < goal.header.choices) return kSchedulePolicy;
  const Policy& continuation = *find_policy(goal.header.continuation);
  if (args.state.guide[kContinued] == 0) {
    args.state.guide[kContinued] = 1;
    continuation.begin_run(args.config, args.state);
  }
  return continuation;
}

void begin_run(const PolicyConfig&, PolicyState& state) {
  for (std::uint64_t& word : state.words) word = 0;
  for (std::uint64_t i = 0; i < kUsed; i++) state.guide[i] = 0;
}

Choice choose(const ChoiceArgs& args) {
  if (args.goal == nullptr) return {without_preemption(args), 0};
  const Goal goal = goal_of(args);
  note_arrivals(args, goal);
  leave_regions(args, goal);
  ThreadId left[kMostEnabled];
  const std::uint32_t count = leave_out_held(args, goal, left);
  const ThreadId* enabled = count == 0 ? args.enabled : left;
  PolicyConfig config = args.config;
  const bool follows = args.state.guide[kChoices] < goal.header.choices;
  config.goal_bytes = follows ? goal.header.switches * sizeof(ScheduleStep) : goal.header.goal_bytes;
  const auto* own_goal = goal.header.goal_bytes == 0 ? nullptr : goal.inner;
  const auto* inner_goal = follows ? reinterpret_cast<const std::byte*>(goal.switches) : own_goal;
  bool current_enabled = args.current_enabled;
  if (count != 0 && current_enabled) current_enabled = !is_held(args, goal, args.current);
  const ChoiceArgs inner = {config,       args.state,      args.threads, enabled,   count == 0 ? args.count : count,
                            args.current, current_enabled, args.yielded, args.step, inner_goal};
  ThreadId chosen = policy_now(inner, goal).choose(inner).thread;
  const ThreadId other = follows ? awaited(args, goal, left, count) : kAnyThread;
  if (other != kAnyThread) chosen = other;
  enter_or_end_regions(args, goal, args.threads[chosen]);
  return {chosen, 0};
}

}  // namespace

extern const Policy kGuidedPolicy = {"guided", "a given schedule, then another policy, under given orders and regions",
                                     begin_run, choose};

}  // namespace reweave
