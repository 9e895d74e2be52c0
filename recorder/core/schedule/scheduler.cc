#include "recorder/core/schedule/scheduler.h"

#include <sys/syscall.h>

#include <algorithm>

#include "recorder/core/log/log.h"
#include "recorder/core/schedule/baton.h"
#include "recorder/core/schedule/choice.h"
#include "recorder/core/schedule/countdown.h"
#include "recorder/core/schedule/departure.h"
#include "recorder/core/schedule/due_signals.h"
#include "recorder/core/schedule/hooks.h"
#include "recorder/core/schedule/recorded_switches.h"
#include "recorder/core/schedule/thread_table.h"
#include "recorder/wait_queues.h"

namespace reweave::core {

namespace {

void leave(Thread& me, wire::SwitchReason reason, const char* doing) {
  if (replaying())
    pass_on_recorded(me, reason, doing);
  else
    pass_on(me, reason);
}

// An explored schedule need not be fair, but a thread that waits for another in a loop must let it run. A suspected
// loop of this kind is treated as a yield.
bool spins(Thread& me) {
  constexpr std::uint32_t kRepeats = 100;      // of one access: a loop with one load
  constexpr std::uint32_t kRunLength = 5'000;  // of anything
  const auto now = static_cast<std::uint32_t>(state().step);
  if (state().last_runner != me.id) {
    me.run_length = 0;
    me.run_began = now;
  }
  state().last_runner = me.id;
  me.run_length++;
  // The same access again after kRunLength points at quiet sites: a loop that polls now and then.
  const bool looks_again = me.repeats > 0 && now - me.run_began >= kRunLength;
  if (me.repeats < kRepeats && me.run_length < kRunLength && !looks_again) return false;
  me.repeats = me.run_length = 0;
  me.run_began = now;
  me.spinning = 1;
  return true;
}

// True if nothing but the operation itself can happen at this point: in a replay it comes next in the recording; when
// recording, the policy's last answer still holds.
bool nothing_else_due(Thread& me) {
  if (replaying()) {
    settle(me);
    if (begins_here()) return false;
    const wire::RecordHeader* record = peek_record();
    return record != nullptr && record->thread == me.id &&
           record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSyscall) &&
           wire::record_cast<wire::SyscallRecord>(*record).step == state().step;
  }
  const std::int64_t left = points_left(me);
  if (!live() || left < 0 || state().slice_over.load() != 0 || state().woken_starves != 0) return false;
  if (!policy_holds_at_calls()) return false;
  settle(me, left);
  return true;
}

// `me` may continue unless the policy chooses another thread; `reluctant`: `me` would rather not.
void choose(Thread& me, bool yielded, bool reluctant) {
  state().woken_starves = 0;
  const auto reason = yielded ? wire::SwitchReason::kYielded : wire::SwitchReason::kPreempted;
  for (bool given = false; !given;) {
    std::int64_t undisturbed = 0;
    const MaybeThread next = choose_live(me, true, reluctant, undisturbed);
    me.deliver_due = signal_due(me) ? 1 : 0;
    if (next.id == me.id) return set_budget(me, undisturbed);
    Thread& to = thread_of(next.id);
    set_budget(to, undisturbed);
    me.state.store(ThreadState::kReady);
    given = give_baton(me, to, reason);
    if (!given) me.state.store(ThreadState::kRunning);
  }
  wait_for_baton(me);
  me.deliver_due = signal_due(me) ? 1 : 0;
}

void point(Thread& me, const PendingOp& op, bool yielded) {
  me.repeats = op.pc == me.op.pc && op.object == me.op.object ? me.repeats + 1 : 0;
  me.op = op;
  if (!yielded && nothing_else_due(me)) {
    me.deliver_due = signal_due(me) ? 1 : 0;
    return;
  }
  settle(me);
  if (begins_here()) schedule_hooks.at_beginning();
  if (modelled() && spins(me)) yielded = true;
  if (replaying()) {
    if (!follow_recorded_switches(wire::SwitchReason::kPreempted)) {
      me.deliver_due = signal_due(me) ? 1 : 0;
      return;
    }
    end_if_recorded();
    return arm();
  }
  const bool slice_over = state().slice_over.exchange(0) != 0;
  if (slice_over) note_slice_end(me, op.pc);
  choose(me, yielded, yielded || slice_over || state().woken_starves != 0);
}

}  // namespace

void arm() {
  Thread& me = self();
  const std::int64_t left = points_left(me);
  settle(me, live() && left > 0 ? left : 0);  // the policy's last answer still holds
  if (replaying()) {
    departure_of(me).limit = {};
    repeat_outside_deaths();
    // A thread without a next record was killed while computing, or the recording lacks its end.
    const wire::RecordHeader* record = peek_record();
    if (record == nullptr) end_of_recording();
    set_budget(me, std::min(points_to(record), points_to_beginning()));
    schedule_hooks.expect_preemption();
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

void give_way_to_woken() {
  Thread& me = self();
  if (replaying()) {
    follow_recorded_switches(wire::SwitchReason::kYielded);
    return;
  }
  if (!live() || state().woken_starves == 0) return;
  settle(me);
  choose(me, true, true);
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

namespace {

// A thread that was woken and has to wait again, with nothing done in between, came too late.
void note_vain_wait(Thread& me, std::uint64_t key) {
  constexpr std::uint64_t kToTryAgain = 4;  // schedule points, also of an instrumented lock
  const bool again = me.wait.key == key && me.ticks - me.woken_tick <= kToTryAgain;
  me.vain_waits = again ? me.vain_waits + 1 : 0;
}

}  // namespace

WaitResult block(const WaitArgs& args, wire::SwitchReason reason) {
  Thread& me = self();
  settle(me);
  note_vain_wait(me, args.key);
  me.wait = {args.kind,     WaitResult::kWoken, args.key,      args.address, ++state().wait_order,
             args.deadline, args.bitset,        args.owner_tid};
  me.expired.store(0);
  enter_wait_queue(state(), me);
  me.state.store(ThreadState::kBlocked);
  if (signal_pending(me) && !replaying() && !is_uninterruptible(args.kind)) me.expired.store(kInterruptedMark);
  note_awake(me.id);
  leave(me, reason, "blocked");
  wait_for_baton(me);
  me.wait.kind = WaitKind::kNone;
  me.woken_tick = me.ticks;
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
  note_awake(me.id);
  wait_for_baton(me);
  settle(me);
}

void lend_baton() {
  if (live() && state().live_threads > 1) self().lends.store(kMayTake);
}

bool take_back_baton() {
  Thread& me = self();
  std::uint32_t lends = me.lends.load();
  if (lends == 0 || (lends == kMayTake && me.lends.compare_exchange_strong(lends, 0))) return false;
  while (me.lends.load() != kTaken) sys(SYS_sched_yield);
  me.lends.store(0);
  return_from_kernel();
  return true;
}

void wait_for_first_turn() {
  wait_for_baton(self());
  arm();
}

void retire_self() {
  Thread& me = self();
  settle(me);
  retire(me);
  if (state().live_threads == 0) return;
  leave(me, wire::SwitchReason::kExited, "exited");
}

void note_interruption() {
  Thread& me = self();
  if (me.state.load() == ThreadState::kBlocked && !is_uninterruptible(me.wait.kind)) me.expired.store(kInterruptedMark);
  note_awake(me.id);
  me.go.fetch_or(kGoAttention);  // so that a wait about to start does not start
}

}  // namespace reweave::core
