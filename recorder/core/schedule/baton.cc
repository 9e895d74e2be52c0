#include "recorder/core/schedule/baton.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "recorder/core/log/log.h"
#include "recorder/core/schedule/choice.h"
#include "recorder/core/schedule/countdown.h"
#include "recorder/core/schedule/deadlock.h"
#include "recorder/core/schedule/roll_call.h"
#include "recorder/wait_queues.h"

namespace reweave::core {

namespace {

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

// While it exists, this process does not stop at once (core/signals/stops.h).
class BatonMove {
 public:
  BatonMove() { process().moving_baton.fetch_add(1); }
  ~BatonMove() { process().moving_baton.fetch_sub(1); }
  BatonMove(const BatonMove&) = delete;
  BatonMove& operator=(const BatonMove&) = delete;
};

// From now on the process of `to` does not stop at once. False: it is already stopping.
bool promise_baton(const Thread& to) {
  state().next_holder.store(to.id + 1u);
  if (state().processes[to.process].stopping.load() == 0) return true;
  state().next_holder.store(0);
  return false;
}

void begin_turn() {
  state().turns++;
  state().slice_over.store(0);
  state().woken_starves = 0;
}

// The baton is free: takes it, unless another thread was faster.
bool take_free_baton(Thread& me) {
  if (process().stopping.load() != 0) return false;  // the thread that stops it makes this one check again
  const BatonMove move;
  if (process().stopping.load() != 0) return false;  // it may have begun since
  std::uint32_t free = 0;
  if (!state().holder.compare_exchange_strong(free, me.id + 1u)) return false;
  begin_turn();
  const std::uint32_t expired = me.state.load() == ThreadState::kBlocked ? me.expired.load() : 0;
  if (state().last_holder != me.id || expired != 0)
    log_switch(static_cast<ThreadId>(state().last_holder), me.id, state().last_reason, expired);
  resume(me, expired);
  return true;
}

// No thread can run now: frees the baton, unless one has become able to run. False: `me` still has it and must check
// again.
bool free_baton(Thread& me, wire::SwitchReason reason) {
  const BatonMove move;
  RuntimeState& s = state();
  check_deadlock(me);
  s.last_holder = me.id;
  s.last_reason = reason;
  s.holder.store(0);
  if (!somebody_may_resume(me)) return true;
  std::uint32_t free = 0;
  return !s.holder.compare_exchange_strong(free, me.id + 1u);
}

}  // namespace

void resume(Thread& to, std::uint32_t expired) {
  if (to.state.load() == ThreadState::kBlocked) {
    to.wait.result = expired == kInterruptedMark ? WaitResult::kInterrupted : WaitResult::kTimedOut;
    leave_wait_queue(state(), to);
  }
  to.expired.store(0);
  to.state.store(ThreadState::kRunning);
}

void hand_over(Thread& to) {
  begin_turn();
  state().holder.store(to.id + 1u);
  state().next_holder.store(0);
  to.go.fetch_or(kGoBaton);
  sys(SYS_futex, &to.go, FUTEX_WAKE, 1);
}

bool give_baton(Thread& me, Thread& to, wire::SwitchReason reason) {
  const BatonMove move;
  if (!promise_baton(to)) return false;
  const std::uint32_t expired = to.state.load() == ThreadState::kBlocked ? to.expired.load() : 0;
  log_switch(me.id, to.id, reason, expired);
  resume(to, expired);
  hand_over(to);
  return true;
}

void wait_for_baton(Thread& me) {
  for (;;) {
    me.stopped = 0;  // since it runs, it was continued, perhaps by a process outside the tree
    const std::uint32_t seen = me.go.fetch_and(~kGoAttention), go = seen & ~kGoAttention;
    if ((go & kGoBaton) != 0) break;
    if (seen != go && roll_is_called(me)) {
      answer_roll_call(me);
      continue;
    }
    const ThreadState s = me.state.load();
    const bool blocked = s == ThreadState::kBlocked;
    if (live() && (s == ThreadState::kReady || (blocked && me.expired.load() != 0)) && take_free_baton(me)) return;
    std::int64_t limit[2];
    const bool timed = live() && blocked && me.wait.deadline != kNoDeadline && me.expired.load() == 0;
    if (timed) {
      const std::int64_t left = me.wait.deadline - monotonic_now();
      if (left <= 0) {
        me.expired.store(kExpiredMark);
        note_awake(me.id);
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
    if (give_baton(me, to, reason)) return;
  }
}

}  // namespace reweave::core
