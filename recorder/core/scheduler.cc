#include "recorder/core/scheduler.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "recorder/core/choice.h"
#include "recorder/core/countdown.h"
#include "recorder/core/deadlock.h"
#include "recorder/core/fatal.h"
#include "recorder/core/log.h"
#include "recorder/core/preemption.h"
#include "recorder/core/signal_queue.h"
#include "recorder/core/signals.h"
#include "recorder/core/thread_table.h"

namespace reweave::core {

namespace {

constexpr std::int64_t kForever = INT64_MAX / 2;

// Brings the step count up to what the fast paths have consumed; `left` points are left from here on.
void settle(Thread& me, std::int64_t left = 0) {
  const std::int64_t done = points_done(me);
  set_budget(me, left);
  if (done == 0) return;
  state().step += static_cast<std::uint64_t>(done);
  me.ticks += static_cast<std::uint64_t>(done);
  if (config().tick_budget != 0 && state().step > config().tick_budget)
    end_run(wire::OutcomeKind::kHang, "hang: the run used up its schedule points");
}

// Schedule points until `record`, the recording's next, is due.
std::int64_t points_to(const wire::RecordHeader* record) {
  std::uint64_t due = 0;
  switch (static_cast<wire::RecordKind>(record->kind)) {
    case wire::RecordKind::kSwitch:
      due = reinterpret_cast<const wire::SwitchRecord*>(record)->step;
      break;
    case wire::RecordKind::kSignal:
      due = reinterpret_cast<const wire::SignalRecord*>(record)->step;
      break;
    case wire::RecordKind::kSyscall:
      due = reinterpret_cast<const wire::SyscallRecord*>(record)->step;
      break;
    case wire::RecordKind::kClock:
      due = reinterpret_cast<const wire::ClockRecord*>(record)->step;
      break;
    case wire::RecordKind::kOutcome:
      due = reinterpret_cast<const wire::OutcomeRecord*>(record)->step;
      break;
    // A preemption comes after the point of its number, not at it.
    case wire::RecordKind::kPreempt:
      due = reinterpret_cast<const wire::PreemptRecord*>(record)->step + 1;
      break;
    default:
      return kForever;
  }
  if (due < state().step) diverged("went on past it", record);
  const auto left = static_cast<std::int64_t>(due - state().step);
  return left == 0 ? 0 : left - 1;
}

void log_switch(ThreadId from, ThreadId to, wire::SwitchReason reason, std::uint32_t expired) {
  RecordWriter record(wire::RecordKind::kSwitch, from, sizeof(wire::SwitchRecord), 0);
  auto& body = record.body<wire::SwitchRecord>();
  body.step = state().step;
  body.to = to;
  body.reason = static_cast<std::uint8_t>(reason);
  body.timed_out = static_cast<std::uint8_t>(expired);
  body.tick = static_cast<std::uint32_t>(thread_of(from).ticks);
  record.commit();
}

// What `to` finds when it goes on: if it still waited, why its wait ended.
void resume(Thread& to, std::uint32_t expired) {
  if (to.state.load() == ThreadState::kBlocked) {
    to.wait.result = expired == kInterruptedMark ? WaitResult::kInterrupted : WaitResult::kTimedOut;
    state().waiting_at[wait_slot(to.wait.address)]--;
  }
  to.expired.store(0);
  to.state.store(ThreadState::kRunning);
}

void begin_turn() {
  state().turns++;
  state().slice_over.store(0);
}

void hand_over(Thread& to) {
  begin_turn();
  state().holder.store(to.id + 1u);
  to.go.fetch_or(kGoBaton);
  sys(SYS_futex, &to.go, FUTEX_WAKE, 1);
}

void give_baton(Thread& me, Thread& to, wire::SwitchReason reason) {
  const std::uint32_t expired = to.state.load() == ThreadState::kBlocked ? to.expired.load() : 0;
  if (!replaying()) log_switch(me.id, to.id, reason, expired);
  resume(to, expired);
  hand_over(to);
}

// The baton is free: takes it if nobody else has.
bool take_free_baton(Thread& me) {
  std::uint32_t free = 0;
  if (!state().holder.compare_exchange_strong(free, me.id + 1u)) return false;
  begin_turn();
  const std::uint32_t expired = me.state.load() == ThreadState::kBlocked ? me.expired.load() : 0;
  if (state().last_holder != me.id || expired != 0)
    log_switch(static_cast<ThreadId>(state().last_holder), me.id, state().last_reason, expired);
  resume(me, expired);
  return true;
}

std::int64_t now() {
  std::int64_t time[2];
  sys(SYS_clock_gettime, 1 /* CLOCK_MONOTONIC */, time);
  return time[0] * 1'000'000'000 + time[1];
}

// Sleeps until this thread has the baton. A blocked thread notes the passing of its own deadline, and then, like one
// that returned from the kernel, takes the baton if it is free.
void wait_for_baton(Thread& me) {
  const bool live = !replaying() && !modelled();
  for (;;) {
    me.stopped = 0;  // or this would not run: whoever continued it may be outside the tree
    const std::uint32_t go = me.go.fetch_and(~kGoAttention) & ~kGoAttention;
    if ((go & kGoBaton) != 0) break;
    const ThreadState s = me.state.load();
    const bool blocked = s == ThreadState::kBlocked;
    if (live && (s == ThreadState::kReady || (blocked && me.expired.load() != 0)) && take_free_baton(me)) return;
    std::int64_t limit[2];
    const bool timed = live && blocked && me.wait.deadline != kNoDeadline && me.expired.load() == 0;
    if (timed) {
      const std::int64_t left = me.wait.deadline - now();
      if (left <= 0) {
        me.expired.store(kExpiredMark);
        continue;
      }
      limit[0] = left / 1'000'000'000;
      limit[1] = left % 1'000'000'000;
    }
    sys(SYS_futex, &me.go, FUTEX_WAIT, go, timed ? limit : nullptr);
  }
  me.go.fetch_and(~kGoBaton);
  me.state.store(ThreadState::kRunning);
}

// No thread can run now: frees the baton, unless one has become able meanwhile. False: `me` has it still, look again.
bool free_baton(Thread& me, wire::SwitchReason reason) {
  RuntimeState& s = state();
  check_deadlock(me);
  s.last_holder = me.id;
  s.last_reason = reason;
  s.holder.store(0);
  for (std::uint32_t i = 0; i < s.live_threads; i++) {
    const Thread& thread = s.threads[s.live[i]];
    if (thread.id == me.id && thread.state.load() != ThreadState::kBlocked) continue;
    if (!may_resume(thread)) continue;
    std::uint32_t free = 0;
    return !s.holder.compare_exchange_strong(free, me.id + 1u);
  }
  return true;
}

// `me`, which cannot go on, passes the baton to whoever can.
void pass_on(Thread& me, wire::SwitchReason reason) {
  for (;;) {
    std::int64_t undisturbed = 0;
    const bool expired = me.state.load() == ThreadState::kBlocked && me.expired.load() != 0;
    const MaybeThread next = choose_live(me, expired, false, undisturbed);
    if (!next.some) {
      if (free_baton(me, reason)) return;
      continue;
    }
    Thread& to = thread_of(next.id);
    if (to.id != me.id) set_budget(to, undisturbed);
    give_baton(me, to, reason);
    return;
  }
}

bool at_point(wire::SwitchReason reason) {
  return reason == wire::SwitchReason::kPreempted || reason == wire::SwitchReason::kYielded;
}

// Replay: the recorded switch due at this very point and for this reason, or null. An operation's schedule point and
// the operation itself have the same number: the reason tells them apart.
const wire::SwitchRecord* due_switch(const Thread& me, wire::SwitchReason reason) {
  repeat_outside_deaths();
  const wire::RecordHeader* record = peek_record();
  if (record == nullptr || record->kind != static_cast<std::uint16_t>(wire::RecordKind::kSwitch)) return nullptr;
  const auto* change = reinterpret_cast<const wire::SwitchRecord*>(record);
  if (change->step > state().step) return nullptr;
  if (change->step < state().step || record->thread != me.id) diverged("went on past it", record);
  const auto recorded = static_cast<wire::SwitchReason>(change->reason);
  return recorded == reason || (at_point(recorded) && at_point(reason)) ? change : nullptr;
}

// Replay: gives the baton as recorded. The recorded thread must be able to run.
void follow(Thread& me, const wire::SwitchRecord& change) {
  const wire::SwitchRecord copy = change;
  if (copy.to >= state().thread_count) diverged("there is no such thread", &change.header);
  Thread& to = thread_of(copy.to);
  const ThreadState s = to.state.load();
  const bool able = s == ThreadState::kReady || s == ThreadState::kInKernel || s == ThreadState::kRunning ||
                    (s == ThreadState::kBlocked && copy.timed_out != 0);
  if (!able) diverged("that thread cannot run", &change.header);
  consume_record();
  resume(to, copy.timed_out);
  if (to.id == me.id) me.go.fetch_or(kGoBaton);
  if (to.id != me.id) hand_over(to);
}

// `me` cannot go on: the recording says who does.
void pass_on_recorded(Thread& me, wire::SwitchReason reason, const char* doing) {
  repeat_outside_deaths();
  if (state().live_threads == 0) return;  // all others were killed
  const wire::RecordHeader* record = peek_record();
  if (record == nullptr) end_of_recording();
  if (record->kind == static_cast<std::uint16_t>(wire::RecordKind::kOutcome)) replay_outcome(record);
  const wire::SwitchRecord* change = due_switch(me, reason);
  if (change == nullptr) diverged(doing, record);
  follow(me, *change);
}

void leave(Thread& me, wire::SwitchReason reason, const char* doing) {
  if (replaying())
    pass_on_recorded(me, reason, doing);
  else
    pass_on(me, reason);
}

// An explored schedule need not be fair, but a thread that waits for another in a loop must let it run. What looks
// like such a loop is treated as a yield.
bool spins(Thread& me) {
  constexpr std::uint32_t kRepeats = 100;      // of one access: a loop of one load
  constexpr std::uint32_t kRunLength = 5'000;  // of anything
  if (state().last_runner != me.id) me.run_length = 0;
  state().last_runner = me.id;
  me.run_length++;
  if (me.repeats < kRepeats && me.run_length < kRunLength) return false;
  me.repeats = me.run_length = 0;
  return true;
}

// Replay: a run that was ended from outside its code (a hang) ends at the same point.
void end_if_recorded() {
  const wire::RecordHeader* record = peek_record();
  if (record == nullptr || record->kind != static_cast<std::uint16_t>(wire::RecordKind::kOutcome)) return;
  if (reinterpret_cast<const wire::OutcomeRecord*>(record)->step <= state().step) replay_outcome(record);
}

// Nothing but the operation itself can happen at this point: replaying, it comes next in the recording; recording, what
// the policy said when it was last asked still holds.
bool undisturbed(Thread& me) {
  if (replaying()) {
    settle(me);
    const wire::RecordHeader* record = peek_record();
    return record != nullptr && record->thread == me.id &&
           record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSyscall) &&
           reinterpret_cast<const wire::SyscallRecord*>(record)->step == state().step;
  }
  const std::int64_t left = points_left(me);
  if (!live() || left < 0 || state().slice_over.load() != 0 || !policy_holds_at_calls()) return false;
  settle(me, left);
  return true;
}

void point(Thread& me, const PendingOp& op, bool yielded) {
  me.repeats = op.pc == me.op.pc && op.object == me.op.object ? me.repeats + 1 : 0;
  me.op = op;
  if (!yielded && undisturbed(me)) {
    me.deliver_due = signal_due(me) ? 1 : 0;
    return;
  }
  settle(me);
  if (modelled() && spins(me)) yielded = true;
  if (replaying()) {
    follow_recorded_switches(wire::SwitchReason::kPreempted);
    end_if_recorded();
    return arm();
  }
  const bool slice_over = state().slice_over.exchange(0) != 0;
  if (slice_over) note_slice_end(me, op.pc);
  std::int64_t undisturbed = 0;
  const MaybeThread next = choose_live(me, true, yielded || slice_over, undisturbed);
  me.deliver_due = signal_due(me) ? 1 : 0;
  if (next.id == me.id) return set_budget(me, undisturbed);
  Thread& to = thread_of(next.id);
  set_budget(to, undisturbed);
  me.state.store(ThreadState::kReady);
  give_baton(me, to, yielded ? wire::SwitchReason::kYielded : wire::SwitchReason::kPreempted);
  wait_for_baton(me);
  me.deliver_due = signal_due(me) ? 1 : 0;
}

}  // namespace

void arm() {
  Thread& me = self();
  const std::int64_t left = points_left(me);
  settle(me, live() && left > 0 ? left : 0);  // what the policy has said still holds
  if (replaying()) {
    repeat_outside_deaths();
    // A thread with nothing before it in the recording was killed while it computed, or the recording lacks its end.
    const wire::RecordHeader* record = peek_record();
    if (record == nullptr) end_of_recording();
    set_budget(me, points_to(record));
    watch_for_preemption();
  }
  me.deliver_due = signal_due(me) ? 1 : 0;
}

std::uint64_t settled_step() {
  settle(self());
  return state().step;
}

void schedule_point(const PendingOp& op) {
  Thread& me = self();
  me.countdown--;
  point(me, op, false);
}

void yield_point(const PendingOp& op) {
  Thread& me = self();
  me.countdown--;
  point(me, op, true);
}

void counted_point(const PendingOp& op) {
  Thread& me = self();
  const std::int64_t left = points_left(me);
  if (left >= 0) return set_points_left(me, left);
  point(me, op, false);
}

void end_slice() {
  Thread& me = self();
  const std::int64_t done = points_done(me);
  set_points_left(me, 0);
  me.budget = done;
}

void note_slice_end(Thread& me, std::uint64_t pc) {
  me.spun_slices = pc == me.slice_end ? me.spun_slices + 1 : 0;
  me.slice_end = pc;
}

void follow_recorded_switches(wire::SwitchReason reason) {
  Thread& me = self();
  while (const wire::SwitchRecord* change = due_switch(me, reason)) {
    me.state.store(at_point(reason) ? ThreadState::kReady : ThreadState::kInKernel);
    follow(me, *change);
    wait_for_baton(me);
    settle(me);
  }
}

WaitResult block(const WaitArgs& args, wire::SwitchReason reason) {
  Thread& me = self();
  settle(me);
  me.wait = {args.kind,     WaitResult::kWoken, args.key,      args.address, ++state().wait_order,
             args.deadline, args.bitset,        args.owner_tid};
  me.expired.store(0);
  state().waiting_at[wait_slot(args.address)]++;
  me.state.store(ThreadState::kBlocked);
  if (signal_pending(me) && !replaying() && !is_uninterruptible(args.kind)) me.expired.store(kInterruptedMark);
  leave(me, reason, "blocked");
  wait_for_baton(me);
  me.wait.kind = WaitKind::kNone;
  arm();
  return me.wait.result;
}

void leave_baton() {
  Thread& me = self();
  settle(me);
  me.state.store(ThreadState::kInKernel);
  pass_on(me, wire::SwitchReason::kInKernel);
}

void return_from_kernel() {
  Thread& me = self();
  ThreadState in_kernel = ThreadState::kInKernel;
  // If the process was retired meanwhile, this thread only waits to be killed.
  me.state.compare_exchange_strong(in_kernel, ThreadState::kReady);
  wait_for_baton(me);
  settle(me);
}

void wait_for_first_turn() {
  wait_for_baton(self());
  arm();
}

void retire_self() {
  Thread& me = self();
  settle(me);
  me.state.store(ThreadState::kExited);
  state().processes[me.process].live_threads--;
  remove_live(me.id);
  if (state().live_threads == 0) return;
  leave(me, wire::SwitchReason::kExited, "exited");
}

void abandon_baton() {
  Thread& me = self();
  const wire::RecordHeader* record = peek_record();
  if (record == nullptr) return;
  if (record->kind == static_cast<std::uint16_t>(wire::RecordKind::kOutcome)) replay_outcome(record);
  if (record->kind != static_cast<std::uint16_t>(wire::RecordKind::kSwitch))
    diverged("was killed from outside", record);
  const auto& change = *reinterpret_cast<const wire::SwitchRecord*>(record);
  state().step = change.step;  // how far the killed thread got nobody counted
  me.state.store(ThreadState::kExited);
  follow(me, change);
}

void note_interruption() {
  Thread& me = self();
  if (me.state.load() == ThreadState::kBlocked && !is_uninterruptible(me.wait.kind)) me.expired.store(kInterruptedMark);
  me.go.fetch_or(kGoAttention);  // so that a wait which is about to start does not
}

}  // namespace reweave::core
