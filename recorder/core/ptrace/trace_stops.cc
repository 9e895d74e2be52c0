#include "recorder/core/ptrace/trace_stops.h"

#include <linux/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "recorder/core/code/patching.h"
#include "recorder/core/ptrace/trace_registers.h"
#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/signals/forced_signals.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/restarts.h"
#include "recorder/core/signals/signal_queue.h"
#include "recorder/core/signals/signals.h"
#include "recorder/core/signals/stops.h"

namespace reweave::core {

namespace {

struct Info {
  std::int32_t words[32];
};

Info info_of(int number, int code, std::int32_t pid) {
  Info info = {};
  info.words[0] = number;
  info.words[2] = code;
  info.words[4] = pid;
  if (live()) info.words[5] = static_cast<std::int32_t>(sys(SYS_getuid));
  return info;
}

// True if the stop is reported with PTRACE_EVENT_STOP.
bool is_event_stop(std::uint32_t code) { return code >> 8 == PTRACE_EVENT_STOP; }

// Like ptrace_stop in the kernel: any stop takes the place of an interruption, one with PTRACE_EVENT_STOP also that of
// a notice, and the thread has taken part in the group-stop. In the kernel, the stop in which a tracer finds its tracee
// precedes any notice.
void forget_requests(Tracee& tracee, StopKind kind, std::uint32_t code) {
  constexpr std::uint32_t kFound = ~std::uint32_t{0} << kFoundShift;
  std::uint32_t done = kAskedInterrupt;
  if (kind == StopKind::kGroup) done |= kAskedGroup | kFound;
  if (is_event_stop(code) && (tracee.asked.load() & kFound) == 0) done |= kAskedNotice;
  tracee.asked.fetch_and(~done);
}

// The process was released during a group-stop, or before SIGSTOP was delivered: the kernel stops it. Its other threads
// that are released now stop once with it, not again after they were continued.
void stay_stopped(const Tracee& released) {
  if (self().tracee != 0 || is_traced(process()) || released.code == 0) return;
  for (Tracee& other : state().tracees)
    if (other.in_use == kLetGo && other.process == self().process) other.code = 0;
  if ((released.asked.load() & kAskedStop) != 0) process().group_stop.store(SIGSTOP);
  stop_here(process().group_stop.load());
}

// Stops the thread until its tracer resumes it. Returns the signal with which it is resumed; its Tracee may then belong
// to another thread.
std::int32_t stand_still(KernelContext& context, StopKind kind, std::uint32_t code, const void* info) {
  Thread& me = self();
  Tracee& tracee = *tracee_of(me);
  remove_patches();
  save_registers(tracee, context);
  memcpy(tracee.info, info, sizeof tracee.info);
  tracee.stop = kind;
  tracee.code = code;
  tracee.reported = 0;
  tracee.listening = 0;
  tracee.signal = 0;
  forget_requests(tracee, kind, code);
  const std::uint64_t mask = me.signal_mask;
  tell_tracer(tracee, kind == StopKind::kGroup ? CLD_STOPPED : CLD_TRAPPED);
  block({WaitKind::kTracer, me.id, 0});
  tracee.stop = StopKind::kNone;
  restore_registers(tracee, context);
  tracee.call = static_cast<std::int32_t>(tracee.registers[kOrigRax]);
  if (me.signal_mask != mask) apply_signal_mask(me);
  if (me.signal_mask != mask) context.mask = live() ? real_mask(me.signal_mask) : 0;
  const std::int32_t signal = tracee.signal;
  const bool let_go = tracee.in_use == kLetGo;
  if (let_go) {
    settle_restart(context, tracee, nullptr);
    tracee.in_use = 0;
  }
  follow_tracing();
  if (let_go) stay_stopped(tracee);
  return signal;
}

// Like ptrace_notify in the kernel: the stop's code is also the siginfo's.
std::int32_t stop_with_code(KernelContext& context, StopKind kind, std::uint32_t code) {
  const Info info = info_of(static_cast<int>(code & 0x7f), static_cast<int>(code), self().tid);
  return stand_still(context, kind, code, &info);
}

std::uint32_t syscall_code(const Tracee& tracee) {
  return (tracee.options & PTRACE_O_TRACESYSGOOD) != 0 ? SIGTRAP | 0x80 : SIGTRAP;
}

// Stops because the thread was asked to, while the group-stop by `number` is in effect, or none (0).
void stop_by_request(KernelContext& context, std::uint32_t number) {
  const Info none = {};
  if (tracee_of(self())->seized == 0)
    stand_still(context, StopKind::kGroup, number, &none);
  else
    stop_with_code(context, StopKind::kGroup, (number != 0 ? number : SIGTRAP) | PTRACE_EVENT_STOP << 8);
}

// Sends the signal with which a tracer resumes a thread at a stop that is not a signal's own.
void send_resumed(std::int32_t number) {
  if (number != 0 && live()) queue_own_signal(self(), number);
}

}  // namespace

bool stop_for_signal(KernelContext& context, QueuedSignal& signal) {
  const auto* words = reinterpret_cast<const std::int32_t*>(signal.info);
  if (is_request_to_stop(signal)) {
    stop_by_request(context, static_cast<std::uint32_t>(words[1]));
    return false;
  }
  Tracee& tracee = *tracee_of(self());
  tracee.may_stop = 1;  // even if this one does not: the tracer may choose another
  const std::int32_t tracer = state().processes[tracee.tracer_process].pid;
  const std::int32_t resumed = stand_still(context, StopKind::kSignal, signal.number, signal.info);
  if (resumed == 0) return false;
  signal.number = static_cast<std::uint32_t>(resumed);
  memcpy(signal.info, tracee.info, sizeof signal.info);
  std::int32_t shown = 0;
  memcpy(&shown, signal.info, sizeof shown);
  if (shown == resumed) return true;
  const Info info = info_of(resumed, 0 /* SI_USER */, tracer);
  memcpy(signal.info, &info, sizeof signal.info);
  return true;
}

// The stops themselves follow as requests, so a replay need not know who was asked.
void stop_in_group(int number) {
  if (tracee_of(self())->may_stop != 0) begin_group_stop(process(), number);
}

bool wants_event(const Thread& thread, int event) {
  const Tracee* tracee = tracee_of(thread);
  return tracee != nullptr && (tracee->options >> event & 1) != 0;
}

namespace {

// During a call, rax shows that it has yet to return.
void report_event(KernelContext& context, int event, std::uint64_t message) {
  Tracee& tracee = *tracee_of(self());
  tracee.message = message;
  if (tracee.in_call != 0) context.registers.rax = static_cast<std::uint64_t>(-ENOSYS);
  send_resumed(stop_with_code(context, StopKind::kEvent, SIGTRAP | static_cast<std::uint32_t>(event) << 8));
}

}  // namespace

void stop_at_event(KernelContext& context, int event, std::uint64_t message) {
  if (!wants_event(self(), event)) return;
  const std::uint64_t before = context.registers.rax;
  const bool in_call = tracee_of(self())->in_call != 0;
  report_event(context, event, message);
  if (in_call) context.registers.rax = before;
}

bool enter_traced_call(KernelContext& context, long& number) {
  auto& r = context.registers;
  Tracee* tracee = tracee_of(self());
  tracee->call = number;
  tracee->in_call = 1;
  const ResumeMode mode = tracee->mode;
  const bool emulated = mode == ResumeMode::kEmulate || mode == ResumeMode::kEmulateStep;
  if (mode != ResumeMode::kSyscall && !emulated) return true;
  r.rax = static_cast<std::uint64_t>(-ENOSYS);
  tracee->message = PTRACE_EVENTMSG_SYSCALL_ENTRY;
  send_resumed(stop_with_code(context, StopKind::kSyscallEntry, syscall_code(*tracee)));
  number = static_cast<std::int32_t>(tracee->registers[kOrigRax]);  // even if the thread is no longer traced
  if (emulated || number < 0) return false;
  r.rax = static_cast<std::uint64_t>(number);
  return true;
}

bool stop_by_filter(KernelContext& context, long& number, std::uint64_t message) {
  const Tracee* tracee = tracee_of(self());
  report_event(context, PTRACE_EVENT_SECCOMP, message);
  number = static_cast<std::int32_t>(tracee->registers[kOrigRax]);  // even if the thread is no longer traced
  if (number < 0) return false;
  context.registers.rax = static_cast<std::uint64_t>(number);
  return true;
}

void leave_traced_call(KernelContext& context) {
  Tracee* tracee = tracee_of(self());
  if (tracee == nullptr || tracee->in_call == 0) return;
  if (tracee->mode == ResumeMode::kSyscall) {
    tracee->message = PTRACE_EVENTMSG_SYSCALL_EXIT;
    send_resumed(stop_with_code(context, StopKind::kSyscallExit, syscall_code(*tracee)));
  } else if (is_stepping(self())) {
    finish_step(context);
  }
  tracee = tracee_of(self());
  if (tracee == nullptr) return;
  tracee->in_call = 0;
}

bool is_stepping(const Thread& thread) {
  const Tracee* tracee = tracee_of(thread);
  return tracee != nullptr && (tracee->mode == ResumeMode::kStep || tracee->mode == ResumeMode::kEmulateStep);
}

void suspend_stepping(KernelContext& context) {
  if (is_stepping(self())) context.registers.eflags &= ~kTrapFlag;
}

void resume_stepping(KernelContext& context) {
  if (is_stepping(self())) context.registers.eflags |= kTrapFlag;
}

void finish_step(KernelContext& context) {
  constexpr int kBreakpoint = 1;  // TRAP_BRKPT, as in the kernel after a system call
  Info info = {};
  info.words[0] = SIGTRAP;
  info.words[2] = kBreakpoint;
  memcpy(info.words + 4, &context.registers.rip, sizeof context.registers.rip);
  force_signal(context, SIGTRAP, &info);
}

void stop_in_handler(KernelContext& context) { send_resumed(stop_with_code(context, StopKind::kEvent, SIGTRAP)); }

void stop_after_exec(KernelContext& context) {
  Thread& me = self();
  Tracee* tracee = tracee_of(me);
  tracee->tid = me.tid;
  tracee->call = SYS_execve;
  tracee->in_call = 1;
  stop_at_event(context, PTRACE_EVENT_EXEC, tracee->message);
  context.registers.rax = 0;
  if (me.tracee == 0) return;
  const bool signalled = (tracee->options & PTRACE_O_TRACEEXEC) == 0 && tracee->seized == 0;
  leave_traced_call(context);
  if (me.tracee == 0 || !signalled) return;
  const Info info = info_of(SIGTRAP, 0 /* SI_USER */, process().pid);
  force_signal(context, SIGTRAP, &info);
}

void await_first_stop() {
  follow_tracing();
  if (live()) take_requests();
}

void begin_traced(KernelContext& context) {
  if (self().tracee == 0) return;
  deliver_signals(context, false, 0);
  resume_stepping(context);
}

}  // namespace reweave::core
