#include "recorder/core/signals.h"

#include <linux/ptrace.h>
#include <sys/syscall.h>

#include "recorder/core/dispatch.h"
#include "recorder/core/fatal.h"
#include "recorder/core/fork_server.h"
#include "recorder/core/instant.h"
#include "recorder/core/kernel_signals.h"
#include "recorder/core/log.h"
#include "recorder/core/loop_probe.h"
#include "recorder/core/process.h"
#include "recorder/core/protection_keys.h"
#include "recorder/core/random_instructions.h"
#include "recorder/core/recorded_preemption.h"
#include "recorder/core/recorded_switches.h"
#include "recorder/core/restarts.h"
#include "recorder/core/scheduler.h"
#include "recorder/core/segment_bases.h"
#include "recorder/core/signal_frames.h"
#include "recorder/core/signal_queue.h"
#include "recorder/core/stops.h"
#include "recorder/core/stubs.h"
#include "recorder/core/syscalls/file_changes.h"
#include "recorder/core/thread_table.h"
#include "recorder/core/trace_stops.h"
#include "recorder/core/tracing.h"
#include "recorder/core/tsc.h"

// Hidden, for without it the compiler would go through a table that a static image lacks.
#pragma GCC visibility push(hidden)
extern "C" {
extern char core_blocking_begin[], core_blocking_end[], core_blocking_interrupted[];
extern char core_guarded_fault[];
extern char core_exec_stopped[];
extern char core_text_start[], core_text_end[];
}
#pragma GCC visibility pop

namespace reweave::core {

namespace {

constexpr int kStepped = 2;  // TRAP_TRACE

}  // namespace

DefaultAction default_action(const Process& process, int number) {
  const Process& target = state().processes[process.handlers_of];
  const std::uint64_t bit = signal_bit(number);
  if (number == SIGKILL) return DefaultAction::kTerminate;
  if (number != SIGSTOP && ((target.handled_signals | target.ignored_signals) & bit) != 0)
    return DefaultAction::kIgnore;
  if (number == SIGCONT) return DefaultAction::kContinue;
  if (((kTerminalStops | signal_bit(SIGSTOP)) & bit) != 0) return DefaultAction::kStop;
  return (kIgnoredByDefault & bit) != 0 ? DefaultAction::kIgnore : DefaultAction::kTerminate;
}

// Runs at any instant of any thread, even inside the core: it queues, and does nothing else.
extern "C" void core_on_asynchronous(int number, void* info, void* raw_context) {
  allow_unaligned(*static_cast<KernelContext*>(raw_context));
  Thread& me = self();
  auto& registers = static_cast<KernelContext*>(raw_context)->registers;
  // The kernel keeps what comes when the queue is nearly full. Not quite: what is interrupted here may be a handler of
  // ours, and when that returns the mask is again what it was before it.
  constexpr std::uint32_t kNested = 8;
  queue_signal(me, number, info, true);
  if (me.queued.load() >= kSignalQueue - kNested) static_cast<KernelContext*>(raw_context)->mask |= ~kNeverBlocked;
  note_interruption();
  leave_blocking_call(registers);
}

const std::uint64_t* interruptions_of(const Thread& thread) {
  static_assert(offsetof(Thread, kicked) == offsetof(Thread, queued) + 4);
  return reinterpret_cast<const std::uint64_t*>(&thread.queued);
}

void leave_blocking_call(KernelRegisters& registers) {
  const auto begin = reinterpret_cast<std::uint64_t>(core_blocking_begin);
  const auto end = reinterpret_cast<std::uint64_t>(core_blocking_end);
  if (registers.rip < begin || registers.rip >= end) return;
  // The instruction leaves its own end in rcx: the kernel was about to restart the call behind another handler.
  const bool started = registers.rcx == end;
  if (started) registers.rax = static_cast<std::uint64_t>(-EINTR);
  registers.rip = started ? end : reinterpret_cast<std::uint64_t>(core_blocking_interrupted);
}

namespace {

void log_signal(Thread& me, int number, bool external, const void* info) {
  if (replaying()) {
    const auto& record = expect<wire::SignalRecord>(wire::RecordKind::kSignal, "received a signal");
    if (record.number != static_cast<std::uint32_t>(number)) diverged("received another signal", &record.header);
    consume_record();
    return;
  }
  RecordWriter record(wire::RecordKind::kSignal, me.id, sizeof(wire::SignalRecord), 0);
  auto& body = record.body<wire::SignalRecord>();
  body.step = state().step;
  body.number = static_cast<std::uint32_t>(number);
  body.flags = external ? 1 : 0;
  memcpy(body.info, info, sizeof body.info);
  record.commit();
}

// The target dies of `number` when it goes on: it gets the signal with its own registers, as debuggers expect.
// `recurs`: going on causes it again; otherwise it has to be sent.
void die_on_return(KernelContext& context, int number, bool recurs) {
  if (number != SIGKILL) stop_at_event(context, PTRACE_EVENT_EXIT, static_cast<std::uint64_t>(number));
  end_process(number);
  set_real_action(number, 0, 0);
  const std::uint64_t all = ~std::uint64_t{0};
  sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, nullptr, 8);
  if (!recurs) sys(SYS_tgkill, sys(SYS_getpid), sys(SYS_gettid), number);
  context.mask &= ~signal_bit(number);
}

// The handler runs next. If there is no room for its frame, that of SIGSEGV does, or the process dies of that.
void enter_handler(KernelContext& context, int number, const void* info) {
  if (push_signal_frame(context, number, info)) return;
  constexpr std::int32_t kByKernel = 0x80;  // SI_KERNEL
  const std::int32_t forced[32] = {SIGSEGV, 0, kByKernel};
  const bool caught = signal_action(SIGSEGV).handler > 1 && (self().signal_mask & signal_bit(SIGSEGV)) == 0;
  if (number == SIGSEGV || !caught || !push_signal_frame(context, SIGSEGV, forced))
    die_on_return(context, SIGSEGV, false);
}

// What a signal that the tracer let through does.
void act_on(KernelContext& context, const QueuedSignal& signal) {
  const int sig = static_cast<int>(signal.number);
  const SignalAction action = signal_action(sig);
  if (action.handler > 1 && sig != SIGKILL && sig != SIGSTOP) {
    if (Tracee* tracee = tracee_of(self())) settle_restart(context, *tracee, &action);
    enter_handler(context, sig, signal.info);
    if (process().alive != 0 && is_stepping(self())) stop_in_handler(context);
    return;
  }
  switch (default_action(process(), sig)) {
    case DefaultAction::kIgnore:
    case DefaultAction::kContinue:
      return;
    case DefaultAction::kStop:
      self().tracee != 0 ? stop_in_group(context, sig) : stop_here(sig);
      return;
    default:
      die_on_return(context, sig, false);
  }
}

// A signal of a traced thread, which its tracer sees first whatever the program does with it.
void deliver_traced(KernelContext& context, QueuedSignal signal) {
  Thread& me = self();
  const std::uint32_t original = signal.number;
  log_signal(me, static_cast<int>(signal.number), signal.external != 0, signal.info);
  if (!stop_for_signal(context, signal)) return;
  const int sig = static_cast<int>(signal.number);
  const bool blocked = signal.number != original && (me.signal_mask & signal_bit(sig)) != 0;
  if (!blocked)
    act_on(context, signal);
  else if (live())
    sys(SYS_rt_tgsigqueueinfo, sys(SYS_getpid), me.real_tid, sig, signal.info);
}

// False: no handler of the program's runs, so the call that was interrupted may yet be made again.
bool deliver_one(KernelContext& context, const QueuedSignal& signal, bool interrupted, long number) {
  Thread& me = self();
  const int sig = static_cast<int>(signal.number);
  const SignalAction action = signal_action(sig);
  const DefaultAction otherwise = default_action(process(), sig);
  const bool nothing = otherwise == DefaultAction::kIgnore || otherwise == DefaultAction::kContinue;
  if ((action.handler <= 1 && nothing) || is_request_to_stop(signal)) return true;
  log_signal(me, sig, signal.external != 0, signal.info);
  if (action.handler == 0 && otherwise == DefaultAction::kStop) {
    stop_here(sig);
    return false;
  }
  if (action.handler == 0) {
    die_on_return(context, sig, false);
    return true;
  }
  if (interrupted && restarts_after_signal(number, context.registers, (action.flags & SA_RESTART) != 0))
    make_again(context, number);
  enter_handler(context, sig, signal.info);
  return true;
}

// True if the core was reading or writing what the target's system call points to, and that is not there.
bool bad_argument(int number, std::uint64_t address) {
  return (number == SIGSEGV || number == SIGBUS) && self().call_frame != 0 &&
         !(address >= kCoreBase && address < kOursEnd);
}

// Abandons the call under way: core_guarded returns -EFAULT.
void fail_call(KernelContext& context) {
  context.registers.rsp = self().call_frame;
  context.registers.rip = reinterpret_cast<std::uint64_t>(core_guarded_fault);
}

// Traps that we set ourselves. After any other fault there are no single steps under way.
bool ours_by_design(int number, const void* info, KernelContext& context) {
  if (number == SIGTRAP && (on_breakpoint(context) || on_fork_site(context))) return true;
  if (number == SIGTRAP && static_cast<const int*>(info)[2] == kStepped && on_probe_step(context)) return true;
  if (number == SIGSEGV && on_probe_write(context, static_cast<const std::uint64_t*>(info)[2])) return true;
  abandon_step_over(context);
  abandon_probe(context);
  return false;
}

// A traced image begins (entry.S, core_exec_stop).
void begin_image(KernelContext& context) {
  KernelRegisters& r = context.registers;
  const std::uint64_t stack = r.rdi, entry = r.rsi;
  for (std::uint32_t i = 0; i < kGeneralRegisters; i++) general_register(r, i) = 0;
  constexpr std::uint64_t kInterruptsEnabled = 0x202;
  r.eflags = kInterruptsEnabled;
  r.rsp = stack;
  r.rip = entry;
  stop_after_exec(context);
  if (process().alive != 0) deliver_signals(context, false, SYS_execve);
  resume_stepping(context);
}

// A forced signal: its handler runs now, or the process dies. `recurs`: as for die_on_return.
void force(KernelContext& context, int number, const void* info, bool recurs) {
  Thread& me = self();
  const bool blocked = (me.signal_mask & signal_bit(number)) != 0;
  if (signal_action(number).handler <= 1 || blocked) return die_on_return(context, number, recurs);
  enter_handler(context, number, info);
  context.mask = real_mask(me.signal_mask);
  if (process().alive) arm();
}

// A signal that cannot wait. `recurs`: as for die_on_return.
void take_now(KernelContext& context, int number, const void* info, bool recurs) {
  Thread& me = self();
  log_signal(me, number, false, info);
  if (me.tracee == 0) return force(context, number, info, recurs);
  QueuedSignal signal = {static_cast<std::uint32_t>(number), 0, {}};
  memcpy(signal.info, info, sizeof signal.info);
  if (stop_for_signal(context, signal)) {
    if (signal.number != static_cast<std::uint32_t>(number))
      act_on(context, signal);
    else
      force(context, number, signal.info, recurs);
  }
  if (Tracee* tracee = tracee_of(me)) settle_restart(context, *tracee, nullptr);
  if (process().alive) arm();
}

}  // namespace

namespace {

// An instruction was carried out in the target's stead. If it steps itself, that was a step.
void finish_own_step(KernelContext& context) {
  if ((context.registers.eflags & kTrapFlag) == 0) return;
  std::uint64_t info[16] = {SIGTRAP, kStepped, context.registers.rip};  // si_signo, si_code, si_addr
  arm();
  take_now(context, SIGTRAP, info, false);
}

}  // namespace

// An instruction of the target caused it, or of ours, which is a defect.
extern "C" void core_on_fault(int number, void* info, void* raw_context) {
  auto& context = *static_cast<KernelContext*>(raw_context);
  allow_unaligned(context);
  take_all_rights();
  if (in_core(context.registers.rip)) check_gs_base();
  const int code = static_cast<int*>(info)[2];
  if (code <= 0) {  // sent, not caused
    core_on_asynchronous(number, info, raw_context);
    return;
  }
  suspend_stepping(context);
  if (ours_by_design(number, info, context)) return resume_stepping(context);
  if (replaying() && number == SIGBUS && mend_mapping(static_cast<const std::uint64_t*>(info)[2]))
    return resume_stepping(context);
  const std::uint64_t ip = context.registers.rip;
  if (ip == reinterpret_cast<std::uint64_t>(core_exec_stopped)) return begin_image(context);
  // The target steps itself, or is stepped: until it is back.
  if (number == SIGTRAP && code == kStepped && (in_core(ip) || in_stub(ip))) return resume_stepping(context);
  if (in_core(ip)) {
    if (bad_argument(number, static_cast<std::uint64_t*>(info)[2])) return fail_call(context);
    Text text;
    text << "internal error: signal " << number << " in the core at ";
    text.hex(ip) << " for address ";
    text.hex(static_cast<std::uint64_t*>(info)[2]);
    stop_run(wire::OutcomeKind::kDiverged, text);
  }
  const bool emulated = (number == SIGSEGV && emulate_tsc(context)) ||
                        (number == SIGILL && (emulate_random(context) || emulate_gs_base(context)));
  if (emulated) {
    is_stepping(self()) ? finish_step(context) : finish_own_step(context);
    return resume_stepping(context);
  }
  arm();
  take_now(context, number, info, number != SIGTRAP);
  resume_stepping(context);
}

void force_signal(KernelContext& context, int number, const void* info) { take_now(context, number, info, false); }

void die_of(KernelContext& context, int number) {
  const std::int32_t info[32] = {number};
  log_signal(self(), number, false, info);
  die_on_return(context, number, false);
}

bool in_core(std::uint64_t ip) {
  return ip >= reinterpret_cast<std::uint64_t>(core_text_start) && ip < reinterpret_cast<std::uint64_t>(core_text_end);
}

namespace {

QueuedSignal recorded_signal() {
  const auto& record = *reinterpret_cast<const wire::SignalRecord*>(peek_record());
  QueuedSignal signal = {record.number, 1, {}};
  memcpy(signal.info, record.info, sizeof signal.info);
  if (signal.number == 0 || signal.number > kSignalCount) diverged("read a damaged signal", &record.header);
  return signal;
}

void restore_mask(Thread& me) {
  if (me.has_saved_mask == 0) return;
  me.signal_mask = me.saved_mask;
  me.has_saved_mask = 0;
}

}  // namespace

bool queued_signal_due(const Thread& thread) { return first_deliverable(thread) < thread.queued.load(); }

bool recorded_signal_due(const Thread& thread) {
  const auto& record = *reinterpret_cast<const wire::SignalRecord*>(peek_record());
  return record.header.thread == thread.id && record.step == state().step && (record.flags & 1) != 0;
}

bool due_signal_restarts() {
  const Thread& me = self();
  if (!signal_due(me)) return true;
  const std::uint32_t number = replaying() ? reinterpret_cast<const wire::SignalRecord*>(peek_record())->number
                                           : me.signals[first_deliverable(me)].number;
  if (number == 0 || number > kSignalCount) return true;
  const SignalAction action = signal_action(static_cast<int>(number));
  return action.handler <= 1 || (action.flags & SA_RESTART) != 0;
}

void deliver_signals(KernelContext& context, bool interrupted, long number) {
  Thread& me = self();
  if (!interrupted) restore_mask(me);
  if (me.held != 0) release_held(me);
  if (signal_due(me)) arm();  // a clock's reading leaves its point to be counted
  bool stopped = false;
  while (signal_due(me)) {
    const QueuedSignal signal = replaying() ? recorded_signal() : take_queued(me, first_deliverable(me));
    Tracee* tracee = tracee_of(me);
    if (tracee != nullptr && interrupted) begin_restart(context, *tracee, number);
    stopped = false;
    if (tracee != nullptr)
      deliver_traced(context, signal);
    else
      stopped = !deliver_one(context, signal, interrupted, number);
    interrupted = interrupted && stopped;  // only the first frame may restart the call
    if (!process().alive) return;
    arm();
  }
  if (stopped && interrupted && goes_on_after_stop(number)) make_again(context, number);
  if (Tracee* tracee = tracee_of(me)) settle_restart(context, *tracee, nullptr);
  restore_mask(me);
  if (live() && me.queued.load() != 0) put_back_blocked(me);
  context.mask = live() ? real_mask(me.signal_mask) : 0;
}

bool return_from_handler(KernelContext& context) {
  const bool whole = pop_signal_frame(context);
  if (whole)
    take_pending_defaults(self());
  else
    die_on_return(context, SIGSEGV, false);
  return whole;
}

}  // namespace reweave::core
