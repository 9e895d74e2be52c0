#include "recorder/core/signals.h"

#include <asm/prctl.h>
#include <linux/prctl.h>
#include <sys/syscall.h>

#include "recorder/core/dispatch.h"
#include "recorder/core/fatal.h"
#include "recorder/core/fork_server.h"
#include "recorder/core/fp_state.h"
#include "recorder/core/log.h"
#include "recorder/core/loop_probe.h"
#include "recorder/core/patching.h"
#include "recorder/core/preemption.h"
#include "recorder/core/process.h"
#include "recorder/core/random_instructions.h"
#include "recorder/core/scheduler.h"
#include "recorder/core/syscalls/file_changes.h"
#include "recorder/core/tsc.h"

// Hidden, for without it the compiler would go through a table that a static image lacks.
#pragma GCC visibility push(hidden)
extern "C" {
extern char core_blocking_begin[], core_blocking_end[], core_blocking_interrupted[];
extern char core_guarded_fault[];
extern char core_text_start[], core_text_end[];
void core_restorer();
void core_sigreturn(void*);
}
#pragma GCC visibility pop

namespace reweave::core {

namespace {

// The signal frame as the kernel lays it out, after the return address.
struct SignalFrame {
  std::uint64_t return_address;
  KernelContext context;
  std::uint8_t info[128];
};

constexpr std::uint64_t kRedZone = 128;
constexpr std::uint32_t kSsAutodisarm = std::uint32_t{1} << 31;  // sigaltstack(2)

Process& handlers_owner() { return state().processes[process().handlers_of]; }

constexpr bool is_synchronous(int number) {
  return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP;
}

constexpr std::uint64_t kIgnoredByDefault =
    signal_bit(SIGCHLD) | signal_bit(SIGCONT) | signal_bit(SIGURG) | signal_bit(SIGWINCH);
constexpr std::uint64_t kStopByDefault =
    signal_bit(SIGSTOP) | signal_bit(SIGTSTP) | signal_bit(SIGTTIN) | signal_bit(SIGTTOU);

// Signals that the kernel must always be able to deliver to us.
constexpr std::uint64_t kNeverBlocked = signal_bit(SIGSYS) | signal_bit(SIGSEGV) | signal_bit(SIGBUS) |
                                        signal_bit(SIGFPE) | signal_bit(SIGILL) | signal_bit(SIGTRAP) |
                                        signal_bit(kWatchdogSignal) | signal_bit(SIGKILL) | signal_bit(SIGSTOP);

// Keeps our handlers from appending while the queue is changed.
class QueueGuard {
 public:
  QueueGuard() { sys(SYS_rt_sigprocmask, SIG_SETMASK, &kAll, &before_, 8); }
  ~QueueGuard() { sys(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, 8); }
  QueueGuard(const QueueGuard&) = delete;
  QueueGuard& operator=(const QueueGuard&) = delete;

 private:
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};
  std::uint64_t before_ = 0;
};

void set_real_action(int number, std::uint64_t handler, std::uint64_t flags, std::uint64_t mask = 0) {
  const SignalAction action = {handler, flags | kSaRestorer, reinterpret_cast<std::uint64_t>(&core_restorer), mask};
  sys(SYS_rt_sigaction, number, &action, nullptr, 8);
}

}  // namespace

void queue_signal(Thread& me, int number, const void* info, bool external) {
  const std::uint32_t n = me.queued.load();
  if (n == kSignalQueue) return;  // as the kernel does when its own queue limit is reached
  me.signals[n].number = static_cast<std::uint32_t>(number);
  me.signals[n].external = external ? 1 : 0;
  memcpy(me.signals[n].info, info, sizeof me.signals[n].info);
  me.queued.store(n + 1);
}

DefaultAction default_action(const Process& process, int number) {
  const Process& target = state().processes[process.handlers_of];
  const std::uint64_t bit = signal_bit(number);
  if (number == SIGKILL) return DefaultAction::kTerminate;
  if (number != SIGSTOP && ((target.handled_signals | target.ignored_signals) & bit) != 0)
    return DefaultAction::kIgnore;
  if (number == SIGCONT) return DefaultAction::kContinue;
  if ((kStopByDefault & bit) != 0) return DefaultAction::kStop;
  return (kIgnoredByDefault & bit) != 0 ? DefaultAction::kIgnore : DefaultAction::kTerminate;
}

// Runs at any instant of any thread, even inside the core: it queues, and does nothing else.
extern "C" void core_on_asynchronous(int number, void* info, void* raw_context) {
  Thread& me = self();
  auto& registers = static_cast<KernelContext*>(raw_context)->registers;
  queue_signal(me, number, info, true);
  note_interruption();
  const auto begin = reinterpret_cast<std::uint64_t>(core_blocking_begin);
  const auto end = reinterpret_cast<std::uint64_t>(core_blocking_end);
  if (registers.rip >= begin && registers.rip < end)
    registers.rip = reinterpret_cast<std::uint64_t>(core_blocking_interrupted);
}

namespace {

// Where the frame of a handler goes.
std::uint64_t frame_base(const Thread& me, const SignalAction& action, std::uint64_t sp) {
  if ((action.flags & SA_ONSTACK) != 0 && me.altstack_size != 0 && !on_alternate_stack(me, sp))
    return me.altstack_base + me.altstack_size;
  return sp - kRedZone;
}

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

// Changes `context` so that it enters the target's handler, which will return to what it was.
void push_frame(KernelContext& context, int number, const void* info) {
  Thread& me = self();
  SignalAction& action = signal_action(number);
  auto& registers = context.registers;
  const std::uint64_t fp_bytes = fp_state_bytes(reinterpret_cast<void*>(registers.fp_state));
  const std::uint64_t fp = (frame_base(me, action, registers.rsp) - fp_bytes) & ~std::uint64_t{63};
  const std::uint64_t base = ((fp - sizeof(SignalFrame)) & ~std::uint64_t{15}) - 8;
  auto* frame = reinterpret_cast<SignalFrame*>(base);
  memcpy(&frame->context, &context, sizeof context);
  copy_fp_state(reinterpret_cast<std::byte*>(fp), reinterpret_cast<const std::byte*>(registers.fp_state), fp_bytes);
  clear_fp_state(reinterpret_cast<std::byte*>(registers.fp_state), fp_bytes);
  memcpy(frame->info, info, sizeof frame->info);
  frame->return_address = action.restorer;
  frame->context.registers.fp_state = fp_bytes != 0 ? fp : 0;
  memset(frame->context.registers.reserved, 0, sizeof frame->context.registers.reserved);
  if (static_cast<const std::int32_t*>(info)[2] <= 0 ||
      !is_synchronous(number)) {  // left over from earlier faults, ours among them
    auto& saved = frame->context.registers;
    saved.error = saved.trap = saved.fault_address = saved.old_mask = 0;
  }
  frame->context.mask = me.has_saved_mask != 0 ? me.saved_mask : me.signal_mask;
  me.has_saved_mask = 0;
  frame->context.stack = {me.altstack_base, static_cast<int>(me.altstack_flags), 0, me.altstack_size};
  if ((me.altstack_flags & kSsAutodisarm) != 0) disable_alternate_stack(me);
  registers.rdi = static_cast<std::uint64_t>(number);
  registers.rsi = reinterpret_cast<std::uint64_t>(frame->info);
  registers.rdx = reinterpret_cast<std::uint64_t>(&frame->context);
  registers.rax = 0;
  registers.rsp = base;
  registers.rip = action.handler;
  registers.eflags &= ~std::uint64_t{0x400 | 0x10000 | 0x100};  // DF, RF, TF
  me.signal_mask |= action.mask;
  if ((action.flags & SA_NODEFER) == 0) me.signal_mask |= signal_bit(number);
  if ((action.flags & SA_RESETHAND) != 0) {
    action.handler = 0;
    apply_disposition(number);
  }
}

// The target dies of `number` when it goes on: it gets the signal with its own registers, as debuggers expect.
// `recurs`: going on causes it again; otherwise it has to be sent.
void die_on_return(KernelContext& context, int number, bool recurs) {
  end_process(number);
  set_real_action(number, 0, 0);
  const std::uint64_t all = ~std::uint64_t{0};
  sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, nullptr, 8);
  if (!recurs) sys(SYS_tgkill, sys(SYS_getpid), sys(SYS_gettid), number);
  context.mask &= ~signal_bit(number);
}

struct FrameArgs {
  KernelContext& context;
  int number;
  const void* info;
};

long push_frame_body(void* raw) {
  const auto& args = *static_cast<FrameArgs*>(raw);
  push_frame(args.context, args.number, args.info);
  return 0;
}

// The handler runs next, or, if there is no room for its frame, the process dies of that.
void enter_handler(KernelContext& context, int number, const void* info) {
  FrameArgs args = {context, number, info};
  Thread& me = self();
  const KernelContext before = context;
  const std::uint64_t frame = me.call_frame;
  const long result = core_guarded(push_frame_body, &args, &me.call_frame);
  me.call_frame = frame;
  if (result == 0) return;
  context = before;
  die_on_return(context, SIGSEGV, false);
}

// Stops the process by a signal that was pending for it until now.
void stop_here(int number) {
  if (replaying()) return follow_recorded_switches(wire::SwitchReason::kInKernel);
  if (!live()) return;
  set_process_stopped(self().process, true);
  leave_baton();
  sys(SYS_tgkill, sys(SYS_getpid), sys(SYS_gettid), number);
  return_from_kernel();
  set_process_stopped(self().process, false);
}

void deliver_one(KernelContext& context, const QueuedSignal& signal, bool interrupted, long number) {
  Thread& me = self();
  const int sig = static_cast<int>(signal.number);
  const SignalAction action = signal_action(sig);
  const DefaultAction otherwise = default_action(process(), sig);
  const bool nothing = otherwise == DefaultAction::kIgnore || otherwise == DefaultAction::kContinue;
  if (action.handler <= 1 && nothing) return;
  log_signal(me, sig, signal.external != 0, signal.info);
  if (action.handler == 0 && otherwise == DefaultAction::kStop) return stop_here(sig);
  if (action.handler == 0) return die_on_return(context, sig, false);
  if (interrupted && (action.flags & SA_RESTART) != 0 && restarts_after_signal(number)) {
    context.registers.rip -= kSyscallBytes;
    context.registers.rax = static_cast<std::uint64_t>(number);
  }
  enter_handler(context, sig, signal.info);
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
  constexpr int kStepped = 2;  // TRAP_TRACE
  if (number == SIGTRAP && (on_breakpoint(context) || on_fork_site(context))) return true;
  if (number == SIGTRAP && static_cast<const int*>(info)[2] == kStepped && on_probe_step(context)) return true;
  if (number == SIGSEGV && on_probe_write(context, static_cast<const std::uint64_t*>(info)[2])) return true;
  abandon_step_over(context);
  abandon_probe(context);
  return false;
}

// A signal that cannot wait: its handler runs now, or the process dies. `recurs`: as for die_on_return.
void take_now(KernelContext& context, int number, const void* info, bool recurs) {
  Thread& me = self();
  const SignalAction& action = signal_action(number);
  log_signal(me, number, false, info);
  const bool blocked = (me.signal_mask & signal_bit(number)) != 0;
  if (action.handler <= 1 || blocked) return die_on_return(context, number, recurs);
  enter_handler(context, number, info);
  context.mask = real_mask(me.signal_mask);
  if (process().alive) arm();
}

// A synchronous signal: an instruction of the target caused it, or of ours, which is a defect.
extern "C" void core_on_fault(int number, void* info, void* raw_context) {
  auto& context = *static_cast<KernelContext*>(raw_context);
  const int code = static_cast<int*>(info)[2];
  if (code <= 0) {  // sent, not caused
    core_on_asynchronous(number, info, raw_context);
    return;
  }
  if (ours_by_design(number, info, context)) return;
  if (replaying() && number == SIGBUS && mend_mapping(static_cast<const std::uint64_t*>(info)[2])) return;
  const std::uint64_t ip = context.registers.rip;
  if (in_core(ip)) {
    if (bad_argument(number, static_cast<std::uint64_t*>(info)[2])) return fail_call(context);
    Text text;
    text << "internal error: signal " << number << " in the core at ";
    text.hex(ip) << " for address ";
    text.hex(static_cast<std::uint64_t*>(info)[2]);
    stop_run(wire::OutcomeKind::kDiverged, text);
  }
  if (number == SIGSEGV && emulate_tsc(context)) return;
  if (number == SIGILL && emulate_random(context)) return;
  arm();
  take_now(context, number, info, number != SIGTRAP);
}

}  // namespace

void force_signal(KernelContext& context, int number, const void* info) { take_now(context, number, info, false); }

void die_of(KernelContext& context, int number) {
  const std::int32_t info[32] = {number};
  log_signal(self(), number, false, info);
  die_on_return(context, number, false);
}

bool in_core(std::uint64_t ip) {
  return ip >= reinterpret_cast<std::uint64_t>(core_text_start) && ip < reinterpret_cast<std::uint64_t>(core_text_end);
}

std::uint64_t always_handled() { return kNeverBlocked & ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP)); }

std::uint64_t real_mask(std::uint64_t mask) { return mask & ~kNeverBlocked; }

void apply_signal_mask(const Thread& me) {
  if (!live()) return;
  const std::uint64_t real = real_mask(me.signal_mask);
  sys(SYS_rt_sigprocmask, SIG_SETMASK, &real, nullptr, 8);
}

SignalAction& signal_action(int number) { return handlers_owner().actions[number]; }

// SA_RESTART: a call of the core's own that it interrupts goes on. exec blocks it until here (core/exec.cc).
void install_watchdog_handler() {
  set_real_action(kWatchdogSignal, reinterpret_cast<std::uint64_t>(&core_on_watchdog),
                  SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART);
  const std::uint64_t bit = signal_bit(kWatchdogSignal);
  sys(SYS_rt_sigprocmask, SIG_UNBLOCK, &bit, nullptr, 8);
}

void install_core_handlers() {
  const auto dispatch = reinterpret_cast<std::uint64_t>(&core_on_sigsys);
  constexpr std::uint64_t kFlags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  set_real_action(SIGSYS, dispatch, kFlags);
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
    set_real_action(number, reinterpret_cast<std::uint64_t>(&core_on_fault), kFlags);
  if (live() && !replaying()) install_watchdog_handler();
  if (live() && signal_action(SIGPIPE).handler == 0) apply_disposition(SIGPIPE);
}

KernelStack core_stack(const Thread& thread) {
  const std::uint64_t base = kStacksBase + thread.id * kCoreStackBytes + 4096;
  return {base, 0, 0, thread.stack_top - base};
}

void prepare_thread(Thread& thread) {
  const KernelStack alternate = core_stack(thread);
  sys(SYS_sigaltstack, &alternate, nullptr);
  const auto begin = reinterpret_cast<std::uint64_t>(core_text_start);
  const auto bytes = static_cast<std::uint64_t>(core_text_end - core_text_start);
  static const char always_block = 1;  // SYSCALL_DISPATCH_FILTER_BLOCK: only the core's text is let through
  if (sys(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, 1, begin, bytes, &always_block) != 0)
    stop_run(wire::OutcomeKind::kUnsupported,
             "this kernel has no Syscall User Dispatch (Linux 5.11 or later, x86-64); record on a newer kernel");
  sys(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV);
  if (replaying()) sys(SYS_prctl, PR_SET_PTRACER, -1L);  // so that gdb may attach under Yama's restriction
}

void apply_disposition(int number) {
  Process& here = handlers_owner();
  const std::uint64_t handler = signal_action(number).handler;
  here.handled_signals &= ~signal_bit(number);
  here.ignored_signals &= ~signal_bit(number);
  if (handler > 1) here.handled_signals |= signal_bit(number);
  if (handler == 1) here.ignored_signals |= signal_bit(number);
  if (!live() || is_synchronous(number) || number == SIGSYS || number == kWatchdogSignal) return;
  if (handler > 1 || (handler == 0 && number == SIGPIPE)) {
    const std::uint64_t kept = signal_action(number).flags & (SA_NOCLDSTOP | SA_NOCLDWAIT);
    // One at a time, so that they queue in the order in which the kernel delivers them.
    set_real_action(number, reinterpret_cast<std::uint64_t>(&core_on_asynchronous),
                    SA_SIGINFO | SA_ONSTACK | SA_NODEFER | kept, ~kNeverBlocked);
  } else {
    set_real_action(number, handler, signal_action(number).flags & (SA_NOCLDSTOP | SA_NOCLDWAIT));
  }
}

void queue_own_signal(Thread& me, int number) {
  std::int32_t info[32] = {number, 0, -6 /* SI_TKILL */, 0, process().pid};
  queue_signal(me, number, info, true);
}

void take_pending_defaults(Thread& me) {
  if (!live()) return;
  const Process& here = handlers_owner();
  std::uint64_t pending = 0;
  sys(SYS_rt_sigpending, &pending, 8);
  pending &= ~(me.signal_mask | here.handled_signals | here.ignored_signals | kIgnoredByDefault | kNeverBlocked);
  while (pending != 0) {
    const std::uint64_t lowest = pending & -pending;
    const long at_once[2] = {0, 0};
    std::int32_t info[32];
    const long number = sys(SYS_rt_sigtimedwait, &lowest, info, at_once, 8);
    if (!is_error(number)) {
      const QueueGuard guard;
      queue_signal(me, static_cast<int>(number), info, true);
    }
    pending &= ~lowest;
  }
}

bool signal_pending(const Thread& thread) { return thread.queued.load() != 0; }

namespace {

std::uint64_t bit_of(const QueuedSignal& signal) { return signal_bit(static_cast<int>(signal.number)); }

// The first queued signal that the target does not block, or `queued`.
std::uint32_t first_deliverable(const Thread& me) {
  const std::uint32_t n = me.queued.load();
  std::uint32_t i = 0;
  while (i < n && (me.signal_mask & bit_of(me.signals[i])) != 0) i++;
  return i;
}

QueuedSignal take_queued(Thread& me, std::uint32_t index) {
  const QueueGuard guard;
  const QueuedSignal signal = me.signals[index];
  const std::uint32_t n = me.queued.load() - 1;
  memmove(me.signals + index, me.signals + index + 1, (n - index) * sizeof me.signals[0]);
  me.queued.store(n);
  return signal;
}

// Signals that came before the target blocked them are pending for it, and pending ones are the kernel's to keep:
// it shows them to sigpending, sigwait and signalfd. Those that the kernel may not block stay with us.
void put_back_blocked(Thread& me) {
  if (me.queued.load() == 0) return;
  apply_signal_mask(me);
  for (std::uint32_t i = 0; i < me.queued.load();) {
    if ((me.signal_mask & bit_of(me.signals[i])) == 0) {
      i++;
      continue;
    }
    const QueuedSignal signal = take_queued(me, i);
    if ((kNeverBlocked & bit_of(signal)) == 0)
      sys(SYS_rt_tgsigqueueinfo, sys(SYS_getpid), me.real_tid, signal.number, signal.info);
    else if (me.held < kHeldSignals)
      me.held_signals[me.held++] = signal;
  }
}

// The target unblocked what we held.
void release_held(Thread& me) {
  for (std::uint32_t i = 0; i < me.held;) {
    if ((me.signal_mask & bit_of(me.held_signals[i])) != 0) {
      i++;
      continue;
    }
    const QueueGuard guard;
    queue_signal(me, static_cast<int>(me.held_signals[i].number), me.held_signals[i].info, true);
    me.held--;
    memmove(me.held_signals + i, me.held_signals + i + 1, (me.held - i) * sizeof me.held_signals[0]);
  }
}

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

bool signal_due(const Thread& thread) {
  if (!replaying()) return first_deliverable(thread) < thread.queued.load();
  const wire::RecordHeader* record = peek_record();
  return record != nullptr && record->kind == static_cast<std::uint16_t>(wire::RecordKind::kSignal) &&
         record->thread == thread.id && reinterpret_cast<const wire::SignalRecord*>(record)->step == state().step &&
         (reinterpret_cast<const wire::SignalRecord*>(record)->flags & 1) != 0;
}

bool due_signal_restarts() {
  const Thread& me = self();
  if (!signal_due(me)) return true;
  const std::uint32_t number = replaying() ? reinterpret_cast<const wire::SignalRecord*>(peek_record())->number
                                           : me.signals[first_deliverable(me)].number;
  return number == 0 || number > kSignalCount || (signal_action(static_cast<int>(number)).flags & SA_RESTART) != 0;
}

void deliver_signals(KernelContext& context, bool interrupted, long number) {
  Thread& me = self();
  if (!interrupted) restore_mask(me);
  if (me.held != 0) release_held(me);
  while (signal_due(me)) {
    const QueuedSignal signal = replaying() ? recorded_signal() : take_queued(me, first_deliverable(me));
    deliver_one(context, signal, interrupted, number);
    interrupted = false;  // only the first frame may restart the call
    if (!process().alive) return;
    arm();
  }
  restore_mask(me);
  if (live() && me.queued.load() != 0) put_back_blocked(me);
  context.mask = live() ? real_mask(me.signal_mask) : 0;
}

int take_held(Thread& me, std::uint64_t set, void* info) {
  std::uint32_t i = 0;
  while (i < me.held && (set & bit_of(me.held_signals[i])) == 0) i++;
  if (i == me.held) return 0;
  const auto number = static_cast<int>(me.held_signals[i].number);
  memcpy(info, me.held_signals[i].info, sizeof me.held_signals[i].info);
  me.held--;
  memmove(me.held_signals + i, me.held_signals + i + 1, (me.held - i) * sizeof me.held_signals[0]);
  return number;
}

std::uint64_t held_mask(const Thread& me) {
  std::uint64_t mask = 0;
  for (std::uint32_t i = 0; i < me.held; i++) mask |= bit_of(me.held_signals[i]);
  return mask;
}

namespace {

long read_frame(void* raw) {
  auto& context = *static_cast<KernelContext*>(raw);
  Thread& me = self();
  const auto* from = reinterpret_cast<const KernelContext*>(context.registers.rsp);
  void* our_fp = reinterpret_cast<void*>(context.registers.fp_state);
  const void* their_fp = reinterpret_cast<void*>(from->registers.fp_state);
  const std::uint64_t fp_bytes = fp_state_bytes(our_fp);
  if (their_fp != nullptr && our_fp != nullptr && fp_state_bytes(their_fp) == fp_bytes)
    memcpy(our_fp, their_fp, fp_bytes);
  const std::uint64_t mask = from->mask;
  const KernelStack stack = from->stack;
  memcpy(&context.registers, &from->registers, sizeof context.registers);
  context.registers.fp_state = reinterpret_cast<std::uint64_t>(our_fp);
  me.signal_mask = mask & ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP));
  if (!on_alternate_stack(me, context.registers.rsp)) {
    me.altstack_base = stack.base;
    me.altstack_size = stack.bytes;
    me.altstack_flags = static_cast<std::uint32_t>(stack.flags & ~SS_ONSTACK);
  }
  return 0;
}

}  // namespace

bool on_alternate_stack(const Thread& me, std::uint64_t sp) {
  return me.altstack_size != 0 && (me.altstack_flags & kSsAutodisarm) == 0 && sp > me.altstack_base &&
         sp <= me.altstack_base + me.altstack_size;
}

void disable_alternate_stack(Thread& me) {
  me.altstack_base = me.altstack_size = 0;
  me.altstack_flags = SS_DISABLE;
}

bool return_from_handler(KernelContext& context) {
  Thread& me = self();
  const bool whole = core_guarded(read_frame, &context, &me.call_frame) == 0;
  me.call_frame = 0;
  if (whole) {
    take_pending_defaults(me);
    return true;
  }
  die_on_return(context, SIGSEGV, false);
  return false;
}

void die_by_signal(int number) {
  set_real_action(number, 0, 0);
  const std::uint64_t none = 0;
  sys(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, 8);
  sys(SYS_tgkill, sys(SYS_getpid), sys(SYS_gettid), number);
  sys(SYS_exit_group, 128 + number);
  __builtin_unreachable();
}

KernelContext* copy_context(const KernelContext& from, const Thread& thread) {
  const std::uint64_t fp_bytes = fp_state_bytes(reinterpret_cast<void*>(from.registers.fp_state));
  const std::uint64_t fp = (thread.stack_top - fp_bytes) & ~std::uint64_t{63};
  const std::uint64_t base = (fp - sizeof(KernelContext)) & ~std::uint64_t{15};
  auto* to = reinterpret_cast<KernelContext*>(base);
  memcpy(to, &from, sizeof from);
  memcpy(reinterpret_cast<void*>(fp), reinterpret_cast<void*>(from.registers.fp_state), fp_bytes);
  if (fp_bytes != 0) to->registers.fp_state = fp;
  to->registers.rip = landing(to->registers.rip);
  to->stack = core_stack(thread);
  return to;
}

void resume_context(KernelContext* context) {
  core_sigreturn(context);
  __builtin_unreachable();
}

}  // namespace reweave::core
