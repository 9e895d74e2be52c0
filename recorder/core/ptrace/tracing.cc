#include "recorder/core/ptrace/tracing.h"

#include <linux/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "recorder/core/log/log.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/robust.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/schedule/thread_table.h"
#include "recorder/core/schedule/waits.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/signal_queue.h"
#include "recorder/core/signals/signals.h"
#include "recorder/live_threads.h"

namespace reweave::core {

namespace {

Tracee* free_entry() {
  for (Tracee& entry : state().tracees)
    if (entry.in_use == 0) return &entry;
  return nullptr;
}

void kick_if_waiting(const Thread& thread) {
  if (thread.state.load() == ThreadState::kInKernel && waits_for_children(thread)) kick(thread);
}

// A waiting call made before any thread was traced does not know of stops.
void kick_all_waiting() {
  for (const Thread& thread : live_threads(state())) kick_if_waiting(thread);
}

// The kernel reports a process's end to its parent only. A tracer that is not the parent is told by the core, and so
// are ends of single threads.
bool is_told_by_kernel(const Tracee& tracee) {
  const Process& process = state().processes[tracee.process];
  return tracee.tid == process.pid && process.parent == tracee.tracer_process;
}

void note_end(Tracee& tracee, std::int32_t wait_status) {
  tracee.wait_status = wait_status;
  thread_of(tracee.thread).tracee = 0;
  if (is_told_by_kernel(tracee) || state().processes[tracee.tracer_process].alive == 0) {
    tracee.in_use = 0;
    return;
  }
  tracee.dead = 1;
  tracee.reported = 0;
  tracee.stop = StopKind::kNone;
  tell_tracer(tracee, WIFSIGNALED(wait_status) ? CLD_KILLED : CLD_EXITED);
}

void release(Tracee& tracee) {
  if (tracee.dead != 0) {
    tracee.in_use = 0;
    return;
  }
  const bool kill = (tracee.options & PTRACE_O_EXITKILL) != 0;
  end_tracing(tracee);
  if (kill && !replaying()) kill_tracee(tracee);
}

void release_tracees(std::uint16_t tracer) {
  for (Tracee& tracee : state().tracees)
    if (tracee.in_use == kTraced && tracee.tracer_process == tracer) release(tracee);
}

void release_tracees(const Thread& tracer) {
  if (state().tracing_began == 0) return;
  for (Tracee& tracee : state().tracees)
    if (tracee.in_use == kTraced && tracee.tracer == tracer.id) release(tracee);
}

void take_child_signal(Thread& me) {
  Process& here = process();
  if (here.child_signal.exchange(0) == 0) return;
  const std::uint64_t bit = signal_bit(SIGCHLD);
  if ((me.signal_mask & bit) != 0)
    sys(SYS_rt_sigqueueinfo, sys(SYS_getpid), SIGCHLD, here.child_info);
  else if ((state().processes[here.handlers_of].handled_signals & bit) != 0)
    queue_from_handler(me, SIGCHLD, here.child_info);
}

}  // namespace

bool waits_for_children(const Thread& thread) {
  return thread.op.kind == OpKind::kSyscall && (thread.op.detail == SYS_wait4 || thread.op.detail == SYS_waitid);
}

void kill_tracee(const Tracee& tracee) {
  const Process& target = state().processes[tracee.process];
  if (target.alive == 0) return;
  release_robust_of(target);
  sys(SYS_kill, kernel_id(target), SIGKILL);
  forget_process(target.index, SIGKILL);
  log_death(target, SIGKILL);
}

bool is_traced(const Process& target) {
  if (state().tracing_began == 0) return false;
  for (const Tracee& tracee : state().tracees)
    if (tracee.in_use == kTraced && tracee.dead == 0 && tracee.process == target.index) return true;
  return false;
}

Tracee* begin_tracing(Thread& target, const Thread& tracer, bool seized) {
  Tracee* entry = free_entry();
  if (entry == nullptr) return nullptr;
  memset(static_cast<void*>(entry), 0, sizeof *entry);
  entry->in_use = kTraced;
  entry->thread = target.id;
  entry->process = target.process;
  entry->tracer = tracer.id;
  entry->tracer_process = tracer.process;
  entry->seized = seized ? 1 : 0;
  entry->tid = target.tid;
  entry->call = -1;
  target.tracee = static_cast<std::uint32_t>(entry - state().tracees) + 1;
  const bool first = state().tracing_began == 0;
  state().tracing_began = 1;
  if (first && live()) kick_all_waiting();
  return entry;
}

void end_tracing(Tracee& tracee) {
  Thread& target = thread_of(tracee.thread);
  target.tracee = 0;
  const bool stands = tracee.stop != StopKind::kNone;
  tracee.in_use = stands ? kLetGo : 0;
  if (stands)
    wake(WaitKind::kTracer, target.id, 1);
  else
    kick(target);
}

void leave_tracing(const Thread& thread, std::int32_t wait_status) {
  if (Tracee* tracee = tracee_of(thread)) note_end(*tracee, wait_status);
  release_tracees(thread);
}

void leave_tracing(std::uint16_t process, std::int32_t wait_status) {
  if (state().tracing_began == 0) return;
  for (Tracee& tracee : state().tracees) {
    if (tracee.process != process || tracee.dead != 0) continue;
    if (tracee.in_use == kTraced) note_end(tracee, wait_status);
    if (tracee.in_use == kLetGo) tracee.in_use = 0;
  }
  release_tracees(process);
}

void restart_group_stop(Tracee& tracee) {
  const std::int32_t stop = state().processes[tracee.process].group_stop.load();
  const std::int32_t number = stop != 0 ? stop : SIGTRAP;
  const std::int32_t code = number | PTRACE_EVENT_STOP << 8;
  tracee.asked.fetch_and(~(kAskedInterrupt | kAskedNotice | kAskedGroup));
  const std::int32_t info[32] = {number, 0, code, 0, tracee.tid};
  memcpy(tracee.info, info, sizeof tracee.info);
  tracee.code = static_cast<std::uint32_t>(code);
  tracee.reported = tracee.listening = 0;
  tell_tracer(tracee, CLD_STOPPED);
}

void follow_tracing() {
  const bool all = is_traced(process());
  if (all != is_to_catch_all()) catch_all_signals(all);
}

// A process stopped from outside the tree gets ready later, so the wait is limited.
void await_readiness(const Tracee& tracee) {
  constexpr int kTries = 2000;
  const long pause[2] = {0, 100'000};
  const Process& target = state().processes[tracee.process];
  for (int i = 0; i < kTries && target.catches_all.load() != kCatchesAll; i++) sys(SYS_nanosleep, pause, nullptr);
}

namespace {

// The siginfo of a signal that the program must not see (signal_queue.h, is_kick).
struct KickInfo {
  std::int32_t words[32];
  explicit KickInfo(int number) : words{number, 0, -1 /* SI_QUEUE */} {
    memcpy(words + 6, &kKickValue, sizeof kKickValue);  // si_value
  }
};

}  // namespace

void kick(const Thread& thread) {
  if (!live()) return;
  const KickInfo info(kWatchdogSignal);
  sys(SYS_rt_tgsigqueueinfo, kernel_id(state().processes[thread.process]), kernel_id(thread), kWatchdogSignal, &info);
}

void kick_waiting(std::uint16_t process) {
  for (const Thread& thread : threads_of(state(), state().processes[process])) kick_if_waiting(thread);
}

void tell_tracer(const Tracee& tracee, int code) {
  if (!live()) return;
  kick_waiting(tracee.tracer_process);
  Process& tracer = state().processes[tracee.tracer_process];
  const SignalAction& action = state().processes[tracer.handlers_of].actions[SIGCHLD];
  const bool is_stop = code == CLD_TRAPPED || code == CLD_STOPPED;
  if (is_stop && (action.flags & SA_NOCLDSTOP) != 0) return;
  const std::int32_t status = is_stop                           ? static_cast<std::int32_t>(tracee.code & 0x7f)
                              : WIFSIGNALED(tracee.wait_status) ? WTERMSIG(tracee.wait_status)
                                                                : WEXITSTATUS(tracee.wait_status);
  const std::int32_t info[32] = {SIGCHLD, 0, code, 0, tracee.tid, static_cast<std::int32_t>(sys(SYS_getuid)), status};
  memcpy(tracer.child_info, info, sizeof info);
  tracer.child_signal.store(1);
  kick(thread_of(tracee.tracer));
}

void ask_to_stop(Tracee& tracee, std::uint32_t asked) {
  if (!live()) return;
  tracee.asked.fetch_or(asked);
  if (tracee.thread == self().id)
    take_requests();
  else
    kick(thread_of(tracee.thread));
}

void send_stop(Tracee& tracee, const void* info) {
  if ((tracee.asked.load() & kAskedStop) != 0) return;  // only one SIGSTOP can be pending
  memcpy(tracee.asked_info, info, sizeof tracee.asked_info);
  ask_to_stop(tracee, kAskedStop);
}

namespace {

// True if the kernel has stopped the new tracee. False for a thread that is about to stop (stops.h): it has not yet
// seen that it is traced.
bool is_stopped(const Tracee& tracee) {
  const long pause[2] = {0, 100'000};
  const Thread& target = thread_of(tracee.thread);
  for (;;) {
    const bool settled = state().processes[tracee.process].stopping.load() == 0;
    const char now = kernel_state(target);
    if (settled || now == 'T' || now == 'Z' || now == 'X' || now == 0) return now == 'T';
    sys(SYS_nanosleep, pause, nullptr);
  }
}

}  // namespace

namespace {

template <typename Action>
void for_tracees_of(const Process& target, Action action) {
  for (Tracee& tracee : state().tracees)
    if (tracee.in_use == kTraced && tracee.dead == 0 && tracee.process == target.index) action(tracee);
}

}  // namespace

void keep_stopped(Tracee& tracee) {
  Process& target = state().processes[tracee.process];
  if (!is_stopped(tracee)) {
    bool alone = true;
    for_tracees_of(target, [&](const Tracee& other) { alone = alone && &other == &tracee; });
    if (alone) target.group_stop.store(0);  // it was continued from outside the tree
    if (target.group_stop.load() != 0) tracee.asked.fetch_or(kAskedGroup);
    return;
  }
  if (target.group_stop.load() == 0) target.group_stop.store(SIGSTOP);
  tracee.asked.fetch_or(static_cast<std::uint32_t>(target.group_stop.load()) << kFoundShift);
  set_process_stopped(tracee.process, false);
  const KickInfo info(SIGCONT);
  sys(SYS_rt_sigqueueinfo, kernel_id(target), SIGCONT, &info);
}

void begin_group_stop(Process& target, int number) {
  target.group_stop.store(number);
  target.stop_cancelled.store(0);
  for_tracees_of(target, [](Tracee& tracee) {
    tracee.may_stop = 0;
    if (tracee.listening != 0)
      restart_group_stop(tracee);
    else
      ask_to_stop(tracee, kAskedGroup);
  });
}

void end_group_stop(Process& target) {
  target.group_stop.store(0);
  if (state().tracing_began == 0) return;
  for_tracees_of(target, [](Tracee& tracee) {
    tracee.asked.fetch_and(~(kAskedGroup | kAskedStop));
    tracee.may_stop = 0;
    if (tracee.listening != 0)
      restart_group_stop(tracee);
    else if (tracee.seized != 0)
      ask_to_stop(tracee, kAskedNotice);
  });
}

void take_requests() {
  Thread& me = self();
  const Tracee* tracee = tracee_of(me);
  if (tracee == nullptr) return;
  const std::uint32_t asked = tracee->asked.load();
  constexpr std::int32_t kStop[32] = {SIGSTOP, 0, kRequestCode}, kSignal[32] = {SIGSTOP, 0, kSignalCode};
  if ((asked & ~kAskedStop) != 0) queue_from_handler(me, SIGSTOP, kStop);
  if ((asked & kAskedStop) != 0) queue_from_handler(me, SIGSTOP, kSignal);
}

bool settle_request(QueuedSignal& signal) {
  Tracee* tracee = tracee_of(self());
  if (tracee == nullptr) return false;
  auto* words = reinterpret_cast<std::int32_t*>(signal.info);
  if (words[2] == kSignalCode) {
    if ((tracee->asked.fetch_and(~kAskedStop) & kAskedStop) == 0) return false;
    memcpy(signal.info, tracee->asked_info, sizeof signal.info);
    return true;
  }
  const std::uint32_t asked = tracee->asked.load(), found = asked >> kFoundShift;
  words[1] = found != 0 ? static_cast<std::int32_t>(found) : process().group_stop.load();
  if (found != 0) return true;
  return tracee->seized != 0 ? (asked & ~kAskedStop) != 0 : (asked & kAskedGroup) != 0 && words[1] != 0;
}

void on_kick(KernelContext& context) {
  Thread& me = self();
  follow_tracing();
  take_requests();
  take_child_signal(me);
  me.kicked.store(1);
  if (me.queued.load() != 0) note_interruption();
  leave_blocking_call(context.registers);
}

}  // namespace reweave::core
