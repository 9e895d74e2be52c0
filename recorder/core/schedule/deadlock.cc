#include "recorder/core/schedule/deadlock.h"
#include "recorder/alive_processes.h"

#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/base/kernel_types.h"
#include "recorder/core/log/log.h"
#include "recorder/core/schedule/hooks.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/thread_table.h"

namespace reweave::core {

namespace {

const char* name_of(WaitKind kind) {
  switch (kind) {
    case WaitKind::kNone:
      return "nothing";
    case WaitKind::kFutex:
      return "a futex";
    case WaitKind::kMutex:
      return "a mutex";
    case WaitKind::kRwlock:
      return "a read-write lock";
    case WaitKind::kSpin:
      return "a spin lock";
    case WaitKind::kCondition:
      return "a condition";
    case WaitKind::kSemaphore:
      return "a semaphore";
    case WaitKind::kVfork:
      return "its vfork child";
    case WaitKind::kSleep:
      return "time or a signal";
    case WaitKind::kFutexVector:
      return "several futexes";
    case WaitKind::kTracer:
      return "its tracer";
  }
  return "an unknown thing";
}

// The thread that holds the object; null if unknown.
const Thread* owner_of(const Thread& waiter) {
  return waiter.wait.owner_tid == 0 ? nullptr : thread_by_tid(waiter.wait.owner_tid, pid_namespace_of(waiter));
}

// glibc's own signals (SIGCANCEL and SIGSETXID, nptl(7)): their handlers ignore signals from other processes, and the
// first pthread_create installs one.
constexpr std::uint64_t kLibrarySignals = 1UL << (32 - 1) | 1UL << (33 - 1);

// A handler of the target could still wake a thread, if its signal may come from outside.
bool handlers_may_help() {
  return find_alive(state(), [](const Process& process) {
           return (process.handled_signals & ~kLibrarySignals) != 0;
         }) != nullptr;
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
  text << "\n  thread " << thread.id << " waits for " << name_of(thread.wait.kind) << " at ";
  text.hex(thread.wait.address);
  if (thread.op.pc != 0) text << ", pc ", text.hex(thread.op.pc);
  if (const Thread* owner = owner_of(thread)) text << ", held by thread " << owner->id;
}

// True if every thread waits, and none for time to pass.
bool all_wait() {
  const RuntimeState& s = state();
  for (std::uint32_t i = 0; i < s.live_threads; i++) {
    const Thread& thread = s.threads[s.live[i]];
    if (thread.state.load() != ThreadState::kBlocked || is_stopped(thread)) return false;
    if (thread.wait.deadline != kNoDeadline || thread.expired.load() != 0) return false;
  }
  return true;
}

// A signal that the program sent itself, for example to cancel a thread, may still be on its way to a sleeping thread.
bool stays_so() {
  constexpr int kPatienceMs = 1000;
  constexpr long kMillisecond[2] = {0, 1'000'000};
  for (int ms = 0; ms < kPatienceMs; ms++) {
    sys(SYS_nanosleep, kMillisecond, 0);
    if (!all_wait()) return false;
  }
  return true;
}

}  // namespace

void check_deadlock(const Thread& me) {
  const RuntimeState& s = state();
  if (replaying() || me.state.load() == ThreadState::kInKernel || s.live_threads == 0 || !all_wait()) return;
  bool cycle = false;
  for (std::uint32_t i = 0; i < s.live_threads; i++) cycle = cycle || in_cycle(s.threads[s.live[i]]);
  const bool explored = modelled();
  if (!explored && (cycle ? alarm_will_come() : handlers_may_help() || !stays_so())) return;
  if (!cycle && explored && schedule_hooks.waits_for_outside())
    end_run(wire::OutcomeKind::kLeftRecording,
            "left the recording: every thread waits, and nothing more comes from outside");
  Text text;
  text << "deadlock: " << (cycle ? "threads wait for each other" : "every thread waits and none can be woken");
  for (std::uint32_t i = 0; i < s.live_threads; i++) describe(text, s.threads[s.live[i]]);
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
