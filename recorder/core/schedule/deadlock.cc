#include "recorder/core/schedule/deadlock.h"

#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/base/kernel_types.h"
#include "recorder/core/log/log.h"
#include "recorder/core/schedule/hooks.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/thread_table.h"
#include "recorder/waiting.h"

namespace reweave::core {

namespace {

// The thread that holds the object; null if unknown.
const Thread* owner_of(const Thread& waiter) {
  return waiter.wait.owner_tid == 0 ? nullptr : thread_by_tid(waiter.wait.owner_tid, pid_namespace_of(waiter));
}

// The program's alarm timer is set and has a handler, which may end the program or jump out of a wait.
bool alarm_will_come() {
  constexpr long kRealTime = 0;  // ITIMER_REAL
  if ((state().processes[process().handlers_of].handled_signals & signal_bit(SIGALRM)) == 0) return false;
  std::int64_t timer[4] = {};
  return !is_error(sys(SYS_getitimer, kRealTime, timer)) && (timer[2] != 0 || timer[3] != 0);
}

// True if following owners from `from` leads back to it. Then a signal can hardly help, because none releases a mutex.
bool in_cycle(const Thread& from) {
  const Thread* at = &from;
  for (std::uint32_t hops = 0; hops < state().live_threads; hops++) {
    at = owner_of(*at);
    if (at == nullptr || at->state.load() != ThreadState::kBlocked) return false;
    if (at == &from) return true;
  }
  return false;
}

void describe(Text& text, const Thread& thread) {
  const Thread* awaited = awaited_end(state(), thread);
  text << "\n  thread " << thread.id << " waits for ";
  if (awaited != nullptr)
    text << "thread " << awaited->id << " to end";
  else
    text << name_of(thread.wait.kind) << " at ", text.hex(thread.wait.address);
  if (const std::uint64_t pc = waits_at(thread, awaited)) text << ", pc ", text.hex(pc);
  if (const Thread* owner = owner_of(thread)) text << ", held by thread " << owner->id;
}

bool all_need_others() {
  RuntimeState& s = state();
  const auto is_able = [&s](const Thread& thread) { return s.live.has(thread.id) && !needs_others(s, thread); };
  if (is_able(thread_of(static_cast<ThreadId>(s.able_thread)))) return false;
  for (const Thread& thread : live_threads(s)) {
    if (!is_able(thread)) continue;
    s.able_thread = thread.id;
    return false;
  }
  return true;
}

}  // namespace

void check_deadlock(const Thread& me) {
  const RuntimeState& s = state();
  if (replaying() || me.state.load() == ThreadState::kInKernel || s.live_threads == 0 || !all_need_others()) return;
  bool cycle = false;
  for (const Thread& thread : live_threads(s)) cycle = cycle || in_cycle(thread);
  if (!modelled() && (!cycle || alarm_will_come())) return;
  if (!cycle && schedule_hooks.waits_for_outside())
    end_run(wire::OutcomeKind::kLeftRecording,
            "left the recording: every thread waits, and the recording has no more input");
  Text text;
  text << "deadlock: " << (cycle ? "threads wait for each other" : "every thread waits and none can be woken");
  for (const Thread& thread : live_threads(s)) describe(text, thread);
  end_run(wire::OutcomeKind::kDeadlock, text.c_str());
}

void end_run(wire::OutcomeKind outcome, const char* text) {
  if (!replaying()) {
    RecordWriter record(wire::RecordKind::kOutcome, self().id, sizeof(wire::OutcomeRecord), string_length(text) + 1);
    auto& body = record.body<wire::OutcomeRecord>();
    body.outcome = static_cast<std::uint32_t>(outcome);
    body.detail = 0;
    body.step = state().step;
    record.append_path(text);
    record.commit();
  }
  stop_run(outcome, text);
}

void replay_outcome(const wire::RecordHeader* header) {
  const auto& record = wire::record_cast<wire::OutcomeRecord>(*header);
  static char text[1500];
  const auto* bytes = reinterpret_cast<const char*>(&record + 1);
  const std::uint64_t room = header->bytes - sizeof record;
  copy_string(text, room < sizeof text ? room : sizeof text, bytes);
  const auto outcome = static_cast<wire::OutcomeKind>(record.outcome);
  consume_record();
  stop_run(outcome, text);
}

}  // namespace reweave::core
