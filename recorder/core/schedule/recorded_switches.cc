#include "recorder/core/schedule/recorded_switches.h"

#include "recorder/core/log/log.h"
#include "recorder/core/schedule/baton.h"
#include "recorder/core/schedule/countdown.h"
#include "recorder/core/schedule/deadlock.h"
#include "recorder/core/schedule/departure.h"

namespace reweave::core {

namespace {

constexpr std::int64_t kForever = INT64_MAX / 2;

bool at_point(wire::SwitchReason reason) {
  return reason == wire::SwitchReason::kPreempted || reason == wire::SwitchReason::kYielded;
}

// Replay: the recorded switch due at exactly this point and for this reason, or null. An operation and its schedule
// point have the same number; the reason tells them apart.
const wire::SwitchRecord* due_switch(const Thread& me, wire::SwitchReason reason) {
  repeat_outside_deaths();
  const wire::RecordHeader* record = peek_record();
  if (record == nullptr || record->kind != static_cast<std::uint16_t>(wire::RecordKind::kSwitch)) return nullptr;
  const auto* change = &wire::record_cast<wire::SwitchRecord>(*record);
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

}  // namespace

std::int64_t points_to(const wire::RecordHeader* record) {
  std::uint64_t due = 0;
  switch (static_cast<wire::RecordKind>(record->kind)) {
    case wire::RecordKind::kSwitch:
      due = wire::record_cast<wire::SwitchRecord>(*record).step;
      break;
    case wire::RecordKind::kSignal:
      due = wire::record_cast<wire::SignalRecord>(*record).step;
      break;
    case wire::RecordKind::kSyscall:
      due = wire::record_cast<wire::SyscallRecord>(*record).step;
      break;
    case wire::RecordKind::kClock:
      due = wire::record_cast<wire::ClockRecord>(*record).step;
      break;
    case wire::RecordKind::kOutcome:
      due = wire::record_cast<wire::OutcomeRecord>(*record).step;
      break;
    // A preemption comes after the point with its number; only then is it looked for.
    case wire::RecordKind::kPreempt:
      due = wire::record_cast<wire::PreemptRecord>(*record).step;
      if (state().step == due) due++;
      break;
    default:
      return kForever;
  }
  if (due < state().step) diverged("went on past it", record);
  const auto left = static_cast<std::int64_t>(due - state().step);
  return left == 0 ? 0 : left - 1;
}

bool follow_recorded_switches(wire::SwitchReason reason) {
  Thread& me = self();
  while (const wire::SwitchRecord* change = due_switch(me, reason)) {
    me.state.store(at_point(reason) ? ThreadState::kReady : ThreadState::kInKernel);
    follow(me, *change);
    wait_for_baton(me);
    if (departure_of(me).departed) return false;
    settle(me);
  }
  return true;
}

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

void abandon_baton() {
  Thread& me = self();
  const wire::RecordHeader* record = peek_record();
  if (record == nullptr && arena().status.final_known.load() == 0)
    end_of_recording();  // no thread is left to find that out
  if (record == nullptr) return;
  if (record->kind == static_cast<std::uint16_t>(wire::RecordKind::kOutcome)) replay_outcome(record);
  if (record->kind != static_cast<std::uint16_t>(wire::RecordKind::kSwitch))
    diverged("was killed from outside", record);
  const auto& change = wire::record_cast<wire::SwitchRecord>(*record);
  state().step = change.step;  // nobody counted how far the killed thread got
  me.state.store(ThreadState::kExited);
  follow(me, change);
}

void end_if_recorded() {
  const wire::RecordHeader* record = peek_record();
  if (record == nullptr || record->kind != static_cast<std::uint16_t>(wire::RecordKind::kOutcome)) return;
  if (wire::record_cast<wire::OutcomeRecord>(*record).step <= state().step) replay_outcome(record);
}

}  // namespace reweave::core
