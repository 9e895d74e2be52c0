// Sending signals: kill and its relatives.
//
// The kernel carries them out, but two effects concern the schedule. A process of the tree that dies takes no further
// part; the recording notes its death after the call. A stopped process must not get the baton. If the sender itself
// dies or stops, it does so only after the call is logged.
#include <sys/syscall.h>

#include "recorder/alive_processes.h"
#include "recorder/core/base/fatal.h"
#include "recorder/core/base/words.h"
#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/robust.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/schedule/thread_table.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/signal_effects.h"
#include "recorder/core/signals/signal_queue.h"
#include "recorder/core/signals/stops.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/explored_answers.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/proc/proc_path.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/table.h"
#include "recorder/live_threads.h"

namespace reweave::core {

// Reads the process ID from /proc/thread-self/fdinfo (pidfd_open(2)).
long pid_of_pidfd(long fd) {
  Text name;
  name << "thread-self/fdinfo/" << static_cast<int>(fd);
  const long info = sys(SYS_openat, kProcFd, name.c_str(), 0);
  if (is_error(info)) return -1;
  char text[512];
  const long bytes = sys(SYS_read, info, text, sizeof text - 1);
  sys(SYS_close, info);
  text[is_error(bytes) ? 0 : bytes] = 0;
  for (Words words = {text}; *words.at != 0; words.at++)
    if (words.take("\nPid:\t")) return id_from_outside(words.number());
  return -1;
}

namespace {

struct Sending {
  long pid;               // as passed to kill
  long tid;               // 0: any thread of the process
  int number;             // 0: no signal is sent
  long siginfo;           // address of the receiver's siginfo, or 0
  bool to_group = false;  // `pid` means a group, as in kill
};

// pidfd_send_signal, which identifies the process by a descriptor.
bool is_by_pidfd(const Call& call) { return (call.row->flags & kFirstIsFd) != 0; }

// The signal that a call sends, and its receiver.
Sending sending_of(const Call& call) {
  const long* a = call.logged;
  const CallPlaces& at = call.row->at;
  const auto number = static_cast<int>(a[at.signal]);
  const long info = at.info < 0 ? 0 : a[at.info];
  if (is_by_pidfd(call)) {
    constexpr long kProcessGroup = 4;  // PIDFD_SIGNAL_PROCESS_GROUP
    const long pid = pid_of_pidfd(a[0]);
    const bool to_group = a[3] == kProcessGroup && a[2] == 0 && pid > 0;
    return {to_group ? -pid : pid, 0, number, info, to_group};
  }
  const long pid = at.pid < 0 ? 0 : a[at.pid];
  const bool may_be_group = at.tid < 0 && at.info < 0;  // kill
  return {pid, at.tid < 0 ? 0 : a[at.tid], number, info, may_be_group && pid <= 0};
}

Process* process_of(const Sending& sending) {
  if (sending.tid == 0) return process_by_pid(sending.pid);
  const Thread* thread = thread_by_tid(sending.tid);
  return thread == nullptr ? nullptr : &state().processes[thread->process];
}

// True if the receiver is a thread that has given the baton away for the last time; the kernel may still have that
// thread for a moment. False for a first thread: its ID is the process's and lasts as long as the process.
bool has_ended(const Sending& sending) {
  return sending.tid > 0 && sending.tid != sending.pid && process_by_pid(sending.pid) != nullptr;
}

// True if the call names a process that the thread does not belong to; the kernel refuses that.
bool names_wrongly(const Call& call, const Process& target) {
  const bool by_both = call.row->at.pid >= 0 && call.row->at.tid >= 0;
  return by_both && call.logged[0] != id_seen_from(process().pid_namespace, target);
}

// True if the signal is for the process, or for this thread of the process.
bool may_take(const Thread& thread, const Sending& sending) {
  return sending.tid == 0 || id_seen_from(process().pid_namespace, thread) == sending.tid;
}

// False: all threads that may receive the signal block it.
bool unblocked(const Process& target, const Sending& sending) {
  if (sending.number == SIGKILL || sending.number == SIGSTOP) return true;
  for (const Thread& thread : threads_of(state(), target))
    if (may_take(thread, sending) && (thread.signal_mask & signal_bit(sending.number)) == 0) return true;
  return false;
}

// Returns the effect of a signal on the process. A tracer sees its tracee's signals first, except for SIGKILL: these
// signals reach the core and have no effect by themselves. This also holds for a process that is no longer traced,
// until it notices that.
DefaultAction effect_of(const Process& target, int number) {
  const bool from_outside = target.pid_namespace != process().pid_namespace;
  if (from_outside && number == SIGKILL) return DefaultAction::kTerminate;
  if (from_outside && number == SIGSTOP) return DefaultAction::kStop;
  const bool reaches_core = number != SIGKILL && (is_traced(target) || target.catches_all.load() != 0);
  return reaches_core ? DefaultAction::kIgnore : default_action(target, number);
}

// The tracee that receives the signal; null if there is none.
Tracee* receiving_tracee(const Process& target, const Sending& sending) {
  if (state().tracing_began == 0) return nullptr;
  for (Tracee& tracee : state().tracees) {
    if (tracee.in_use != kTraced || tracee.dead != 0 || tracee.process != target.index) continue;
    if (may_take(thread_of(tracee.thread), sending)) return &tracee;
  }
  return nullptr;
}

// Stops a tracee that gets SIGSTOP: the kernel would stop it without its tracer seeing that. False for other signals,
// or if the receiver is not a tracee.
bool stop_tracee(Call& call, const Process& target, const Sending& sending) {
  Tracee* tracee = sending.number == SIGSTOP ? receiving_tracee(target, sending) : nullptr;
  if (tracee == nullptr) return false;
  std::int32_t info[32] = {SIGSTOP,
                           0,
                           call.row->at.tid >= 0 && call.row->at.info < 0 ? -6 : 0,
                           0,
                           process().pid,
                           static_cast<std::int32_t>(sys(SYS_getuid))};
  if (sending.siginfo != 0) memcpy(info, reinterpret_cast<const void*>(sending.siginfo), sizeof info);
  send_stop(*tracee, info);
  return true;
}

void set_stopped(const Process& target, bool stopped) { set_process_stopped(target.index, stopped); }

// False: the kernel has not stopped the thread yet.
bool is_at_rest(const Thread& thread) {
  const char state = kernel_state(thread);
  return state == 0 || state == 'T' || state == 't' || state == 'Z' || state == 'X';
}

// The kernel stops one thread after the other. Before the last one has stopped, a thread could find itself running and
// conclude that it was continued. The wait is limited, because a process in an orphaned group is never stopped.
void wait_until_stopped(const Process& target) {
  constexpr std::uint32_t kTries = 40;
  const long pause[2] = {0, 500'000};
  std::uint32_t tries = 0;
  for (const Thread& thread : threads_of(state(), target))
    for (; tries < kTries && !is_at_rest(thread); tries++) sys(SYS_nanosleep, pause, nullptr);
}

// The kernel's answer to the same call without a signal: 0, or the error. Only a call that is carried out may change
// the schedule.
long refusal(const Call& call, const Sending& sending) {
  long args[4] = {call.args[0], call.args[1], call.args[2], call.args[3]};
  args[call.row->at.signal] = 0;
  std::int32_t info[32];
  if (is_by_pidfd(call) && sending.siginfo != 0) {
    memcpy(info, reinterpret_cast<const void*>(sending.siginfo), sizeof info);
    if (info[0] != sending.number) return -EINVAL;
    info[0] = 0;
    args[2] = reinterpret_cast<long>(info);
  }
  return sys(call.number, args[0], args[1], args[2], args[3]);
}

// Notes the effect of the signal on another process of the tree that just received it. Call this after logging the
// call.
void note_effect(Process& target, const Sending& sending) {
  if (sending.number == SIGCONT) {
    target.stop_cancelled.store(1);
    set_stopped(target, false);
    end_group_stop(target);
  }
  if (sending.number <= 0 || sending.number > kSignalCount || !unblocked(target, sending)) return;
  const DefaultAction action = effect_of(target, sending.number);
  if (action == DefaultAction::kStop) {
    wait_until_stopped(target);
    target.group_stop.store(sending.number);
    set_stopped(target, true);
    look_again(target.index);
  }
  if (action != DefaultAction::kTerminate) return;
  forget_process(target.index, sending.number);
  log_death(target, sending.number);
}

// Robust mutexes must be released while the process's memory still exists.
void before_effect(const Process& target, const Sending& sending) {
  const bool valid = sending.number > 0 && sending.number <= kSignalCount;
  if (valid && unblocked(target, sending) && effect_of(target, sending.number) == DefaultAction::kTerminate)
    release_robust_of(target);
}

void queue_to_self(Call& call, const Sending& sending) {
  call.me.signal_mask &=
      ~signal_bit(sending.number);  // the signal may have been meant for another thread of this process
  if (sending.siginfo != 0)
    queue_signal(call.me, sending.number, reinterpret_cast<const void*>(sending.siginfo), true);
  else
    queue_own_signal(call.me, sending.number);
}

// Stops the calling process until it is continued. The call counts as one that blocks.
long stop_self(Call& call, const Sending& sending) {
  call.flags |= wire::kLeftBaton;
  begin_stop();
  process().group_stop.store(sending.number);
  leave_baton();
  const long result = sys(call.number, call.args[0], call.args[1], call.args[2], call.args[3]);
  end_stop();
  return_from_kernel();
  log_call(call, result, nullptr, 0);
  return result;
}

// True if the kernel knows the code (known_siginfo_layout in its kernel/signal.c). Only for other codes, such as
// disguised ones, it requires zeros after the known part of a siginfo_t.
bool has_known_layout(int number, std::int32_t code) {
  constexpr std::int32_t kByKernel = 0x80, kMostOfOthers = 6;  // SI_KERNEL, NSIGPOLL
  struct Limit {
    int number;
    std::int32_t most;
  };
  constexpr Limit kLimits[] = {{SIGILL, 11}, {SIGFPE, 15}, {SIGSEGV, 10}, {SIGBUS, 5}, {SIGTRAP, 6}, {SIGSYS, 2}};
  if (code == kByKernel) return true;
  for (const Limit& limit : kLimits)
    if (limit.number == number) return code <= limit.most;
  return code <= kMostOfOthers;
}

// A thread may send itself a signal that looks like a fault of its own; crash reporters do. The core must not mistake
// the signal for a fault.
long send_disguised(const Call& call, const Sending& sending) {
  std::int32_t info[32];
  memcpy(info, reinterpret_cast<const void*>(sending.siginfo), sizeof info);
  constexpr std::size_t kKnownWords = 12;
  if (has_known_layout(sending.number, info[2]))
    memset(info + kKnownWords, 0, sizeof info - kKnownWords * sizeof info[0]);
  info[2] = disguised_code(info[2]);
  long args[4] = {call.args[0], call.args[1], call.args[2], call.args[3]};
  args[call.row->at.info] = reinterpret_cast<long>(info);
  return sys(call.number, args[0], args[1], args[2], args[3]);
}

bool looks_caused(const Call& call, const Sending& sending) {
  if (sending.siginfo == 0 || !(is_synchronous(sending.number) || sending.number == SIGSYS)) return false;
  const long to = sending.tid != 0 ? sending.tid : sending.pid;
  return to == call.me.tid && reinterpret_cast<const std::int32_t*>(sending.siginfo)[2] > 0;
}

long send_to_own(Call& call, const Sending& sending) {
  const bool valid = sending.number > 0 && sending.number <= kSignalCount;
  const DefaultAction action =
      valid && unblocked(process(), sending) ? effect_of(process(), sending.number) : DefaultAction::kIgnore;
  if (action == DefaultAction::kStop) return stop_self(call, sending);
  if (action == DefaultAction::kTerminate) {
    if (sending.siginfo != 0) {  // EFAULT if that is not in readable memory
      std::uint8_t info[128];
      memcpy(info, reinterpret_cast<const void*>(sending.siginfo), sizeof info);
    }
    log_call(call, 0, nullptr, 0);
    queue_to_self(call, sending);
    return 0;
  }
  const long result = looks_caused(call, sending)
                          ? send_disguised(call, sending)
                          : sys(call.number, call.args[0], call.args[1], call.args[2], call.args[3]);
  log_call(call, result, nullptr, 0);
  if (result == 0 && sending.number == SIGCONT) end_group_stop(process());
  return result;
}

// True if kill(group) includes the process.
bool is_member(const Process& target, long group) {
  if (target.alive == 0) return false;
  const long id = id_seen_from(process().pid_namespace, target);
  if (group == -1) return target.index != self().process && id > 1;
  return id != 0 && sys(SYS_getpgid, id) == (group == 0 ? sys(SYS_getpgid, 0) : -group);
}

// Sends to a process group. Only members in the tree receive the signal, because the supervisor is often a member too.
long send_to_group(Call& call, const Sending& sending) {
  RuntimeState& s = state();
  bool any = false, self_too = false;
  long result = -ESRCH;
  static std::uint16_t reached[kMaxProcesses];
  std::uint32_t count = 0;
  for (Process& target : alive_processes(s)) {
    if (!is_member(target, sending.pid)) continue;
    any = true;
    if (target.index == self().process) {
      self_too = true;
      result = 0;
      continue;
    }
    before_effect(target, sending);
    if (stop_tracee(call, target, sending)) {
      result = 0;
      continue;
    }
    const long sent = sys(SYS_kill, kernel_id(target), sending.number);
    if (sent == 0) reached[count++] = target.index;
    if (result != 0) result = sent;
  }
  if (!any) return recorded_call(call);
  const Sending own = {process().pid, 0, sending.number, 0};
  const bool valid = sending.number >= 0 && sending.number <= kSignalCount;
  const DefaultAction action = self_too && sending.number > 0 && valid && unblocked(process(), own)
                                   ? effect_of(process(), sending.number)
                                   : DefaultAction::kIgnore;
  const bool deferred = action == DefaultAction::kTerminate || action == DefaultAction::kStop;
  if (self_too && !deferred) result = sys(SYS_kill, sys(SYS_getpid), sending.number);
  log_call(call, result, nullptr, 0);
  for (std::uint32_t i = 0; i < count; i++) note_effect(s.processes[reached[i]], sending);
  if (self_too && result == 0 && sending.number == SIGCONT) end_group_stop(process());
  if (deferred) queue_to_self(call, own);
  return result;
}

}  // namespace

long handle_kill(Call& call) {
  if (replaying()) return answered_call(call);
  const Sending sending = sending_of(call);
  if (modelled()) {
    long result = 0;
    if (!explored.send_signal(call, sending.number, result)) return answered_call(call);
    log_call(call, result, nullptr, 0);
    return result;
  }
  if (sending.to_group) return send_to_group(call, sending);
  Process* target = process_of(sending);
  if (target == nullptr && has_ended(sending)) {
    log_call(call, -ESRCH, nullptr, 0);
    return -ESRCH;
  }
  if (target == nullptr || names_wrongly(call, *target)) return recorded_call(call);
  // SIGCONT is allowed where other signals are not (kill(2)), and ends nothing.
  const long refused = sending.number == SIGCONT ? 0 : refusal(call, sending);
  if (refused != 0) {
    log_call(call, refused, nullptr, 0);
    return refused;
  }
  if (stop_tracee(call, *target, sending)) {
    log_call(call, 0, nullptr, 0);
    return 0;
  }
  if (target->index == call.me.process) return send_to_own(call, sending);
  before_effect(*target, sending);
  const long result = sys(call.number, call.args[0], call.args[1], call.args[2], call.args[3]);
  log_call(call, result, nullptr, 0);
  if (result == 0) note_effect(*target, sending);
  return result;
}

}  // namespace reweave::core
