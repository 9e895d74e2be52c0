#include "recorder/core/schedule/choice.h"

#include <algorithm>

#include "recorder/core/base/fatal.h"
#include "recorder/core/schedule/hooks.h"
#include "recorder/core/schedule/observation.h"
#include "recorder/core/schedule/thread_table.h"
#include "recorder/live_threads.h"
#include "recorder/policy.h"

namespace reweave::core {

namespace {

// True if it neither waits nor is in the kernel, whether or not it is stopped.
bool is_awake(const Thread& thread) {
  const ThreadState s = thread.state.load();
  return s == ThreadState::kReady || s == ThreadState::kRunning ||
         (s == ThreadState::kBlocked && thread.expired.load() != 0);
}

}  // namespace

bool may_resume(const Thread& thread) { return is_awake(thread) && !is_stopped(thread); }

void note_awake(ThreadId id) { state().awake.add(id); }

bool somebody_may_resume(const Thread& me) {
  for (const Thread& thread : awake_threads(state()))
    if ((thread.id != me.id || thread.state.load() == ThreadState::kBlocked) && may_resume(thread)) return true;
  return false;
}

namespace {

// A modelled wait may end at any time, as if the other threads had been that slow. So an explored run has its timeouts
// early, late or never, and nothing sleeps. But a polling thread would do nothing else: after a few early timeouts, its
// time passes only when no other thread can run.
bool may_time_out(const Thread& thread) {
  constexpr std::uint32_t kMostEarly = 3;
  if (thread.state.load() != ThreadState::kBlocked || thread.wait.deadline == kNoDeadline) return false;
  if (thread.wait.deadline > schedule_hooks.next_timer()) return false;  // whose signal comes first
  return thread.early_timeouts < kMostEarly || thread.wait.deadline <= state().virtual_now;
}

// The policy of this run, looked up by name when a process first needs it.
const Policy* chosen_policy;

const Policy& policy() {
  if (chosen_policy == nullptr) chosen_policy = find_policy(config().policy.name);
  if (chosen_policy == nullptr) bug("unknown policy");
  return *chosen_policy;
}

// Removes from the awake threads one that turned out to wait.
void note_asleep(const Thread& thread) {
  if (is_awake(thread)) return;
  state().awake.remove(thread.id);
  if (is_awake(thread)) note_awake(thread.id);  // it may have woken since
}

// In order of IDs, which is the order of creation until IDs are reused.
std::uint32_t collect_awake(const Thread& me, bool me_enabled, ThreadId* out) {
  std::uint32_t n = 0;
  for (const Thread& thread : awake_threads(state())) {
    if (thread.id == me.id ? me_enabled : may_resume(thread)) out[n++] = thread.id;
    if (thread.id != me.id) note_asleep(thread);
  }
  return n;
}

// Finds the first thread with an ID from `from` to `end` - 1 that can resume. False if there is none.
bool find_awake(std::uint32_t from, std::uint32_t end, ThreadId& found) {
  RuntimeState& s = state();
  for (std::uint32_t id = s.awake.next(from, end); id != end; id = s.awake.next(id + 1, end)) {
    const Thread& thread = s.threads[id];
    found = thread.id;
    if (may_resume(thread)) return true;
    note_asleep(thread);
  }
  return false;
}

// For policies that take turns: `me`, if it is enabled, and the thread whose turn is next. Looks at no others, of which
// thousands may be awake.
std::uint32_t collect_next(const Thread& me, bool me_enabled, ThreadId* out) {
  std::uint32_t n = 0;
  if (me_enabled) out[n++] = me.id;
  if (find_awake(me.id + 1u, state().thread_count, out[n]) || find_awake(0, me.id, out[n])) n++;
  return n;
}

std::uint32_t collect_enabled(const Thread& me, bool me_enabled, ThreadId* out) {
  const bool needs_next = policy().takes_turns && config().observe == 0;
  if (!modelled()) return needs_next ? collect_next(me, me_enabled, out) : collect_awake(me, me_enabled, out);
  std::uint32_t n = 0;
  for (const Thread& thread : live_threads(state()))
    if ((thread.id == me.id ? me_enabled : may_resume(thread)) || may_time_out(thread)) out[n++] = thread.id;
  return n;
}

// Scratch of collect_enabled, used by the baton holder; one per process is enough.
ThreadId enabled_threads[kMaxThreads];

// A thread's wait has timed out, so it is now at least as late as its deadline.
void expire(Thread& thread, bool early) {
  RuntimeState& s = state();
  if (early && thread.wait.deadline > s.virtual_now) thread.early_timeouts++;
  if (thread.wait.deadline > s.virtual_now) s.virtual_now = thread.wait.deadline;
  thread.expired.store(kExpiredMark);
}

// Lets timers expire until `time`, or until a thread, possibly `me`, can run. True if one can.
bool pass_timers(Thread& me, std::int64_t time) {
  constexpr int kMostVain = 100;  // expirations without effect, of timers that tick forever
  for (int i = 0; i < kMostVain && schedule_hooks.next_timer() <= time; i++) {
    schedule_hooks.fire_next_timer();
    if (collect_enabled(me, may_resume(me), enabled_threads) != 0) return true;
  }
  return false;
}

// Modelled: no thread can proceed, so time advances to the next deadline. False if there is none.
bool expire_next(Thread& me) {
  Thread* next = nullptr;
  for (Thread& thread : live_threads(state())) {
    if (thread.state.load() != ThreadState::kBlocked || thread.wait.deadline == kNoDeadline) continue;
    if (next == nullptr || thread.wait.deadline < next->wait.deadline) next = &thread;
  }
  if (schedule_hooks.next_timer() != kNoDeadline &&
      pass_timers(me, next == nullptr ? kNoDeadline - 1 : next->wait.deadline))
    return true;
  if (next == nullptr) return false;
  expire(*next, false);
  return true;
}

// True if all threads wait. A spinning thread waits too, but this is known only when the last spinning thread gives
// way.
bool all_wait(const Thread& me, bool me_enabled) {
  for (const Thread& thread : live_threads(state())) {
    const bool can_run = thread.id == me.id ? me_enabled : may_resume(thread);
    if (can_run && (me.spinning == 0 || thread.spinning == 0)) return false;
  }
  return true;
}

// Modelled: no thread can proceed unless its time passes. The outside acts if it is its turn; otherwise time advances.
// If no thread waits for time, the outside acts even if it is not its turn. `n` threads are enabled; if `me` is one of
// them, all that can run spin.
std::uint32_t wait_for_anything(Thread& me, bool me_enabled, std::uint32_t n) {
  const auto collected = [&] { return collect_enabled(me, me_enabled || may_resume(me), enabled_threads); };
  if (schedule_hooks.outside_acts(false)) return collected();
  if (n != 0 && !me_enabled) return n;
  const bool passed = expire_next(me);
  n = collected();
  if ((n == 0 || !passed) && schedule_hooks.outside_acts(true)) n = collected();
  return n;
}

// When a spinning thread gives way, other spinning threads come after those that do not spin; otherwise they could give
// way to each other forever.
std::uint32_t leave_out_spinning(std::uint32_t n) {
  std::uint32_t left = 0;
  const auto gets_on = [](ThreadId id) { return thread_of(id).spinning == 0 && may_resume(thread_of(id)); };
  if (std::none_of(enabled_threads, enabled_threads + n, gets_on)) {
    for (std::uint32_t i = 0; i < n; i++) thread_of(enabled_threads[i]).spinning = 0;
    return n;
  }
  for (std::uint32_t i = 0; i < n; i++)
    if (thread_of(enabled_threads[i]).spinning == 0) enabled_threads[left++] = enabled_threads[i];
  return left;
}

}  // namespace

MaybeThread choose_live(Thread& me, bool me_enabled, bool yielded, std::int64_t& undisturbed) {
  const bool fair = in_fair_part();
  if (fair) chosen_policy = find_policy("fair");
  if (modelled() && schedule_hooks.next_timer() <= state().virtual_now && pass_timers(me, state().virtual_now))
    me_enabled = me_enabled || may_resume(me);
  std::uint32_t n = collect_enabled(me, me_enabled, enabled_threads);
  if (modelled() && all_wait(me, me_enabled)) n = wait_for_anything(me, me_enabled, n);
  if (n == 0) return {false, 0};
  const PolicyConfig& policy_config = config().policy;
  const auto* goal =
      policy_config.goal_bytes == 0 ? nullptr : reinterpret_cast<const std::byte*>(kArenaBase + kGoalOffset);
  // A policy with a goal knows which thread it wants.
  if (me.spinning != 0 && (goal == nullptr || fair)) n = leave_out_spinning(n);
  const ChoiceArgs args = {
      policy_config, state().policy, state().threads, enabled_threads, n, me, me_enabled, yielded, state().step, goal};
  const Choice choice = policy().choose(args);
  note_choice(args, choice.thread);
  Thread& chosen = thread_of(choice.thread);
  chosen.spinning = 0;
  if (modelled() && chosen.state.load() == ThreadState::kBlocked && chosen.expired.load() == 0) expire(chosen, n > 1);
  undisturbed = choice.undisturbed;
  return {true, choice.thread};
}

bool policy_holds_at_calls() { return policy().holds_at_calls && config().observe == 0; }

void begin_policy() {
  chosen_policy = nullptr;
  clear_notes();
  seed_random(state().policy, config().policy.seed);
  policy().begin_run(config().policy, state().policy);
}

}  // namespace reweave::core
