#include "recorder/core/signals/kernel_signals.h"

#include <asm/prctl.h>
#include <linux/prctl.h>
#include <sys/syscall.h>

#include "recorder/core/base/entry_points.h"
#include "recorder/core/base/fatal.h"
#include "recorder/core/base/real_actions.h"

// Hidden: otherwise the compiler would access them through a GOT, which a static image lacks.
#pragma GCC visibility push(hidden)
extern "C" {
extern char core_text_start[], core_text_end[];
}
#pragma GCC visibility pop

namespace reweave::core {

namespace {

Process& handlers_owner() { return state().processes[process().handlers_of]; }

}  // namespace

std::uint64_t always_handled() { return kNeverBlocked & ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP)); }

std::uint64_t real_mask(std::uint64_t mask) { return mask & ~kNeverBlocked; }

void apply_signal_mask(const Thread& me) {
  if (!live()) return;
  const std::uint64_t real = real_mask(me.signal_mask);
  sys(SYS_rt_sigprocmask, SIG_SETMASK, &real, nullptr, 8);
}

SignalAction& signal_action(int number) { return handlers_owner().actions[number]; }

const SignalAction& action_of(const Thread& thread, int number) {
  const RuntimeState& s = state();
  return s.processes[s.processes[thread.process].handlers_of].actions[number];
}

// With SA_RESTART, so that a call of the core's own continues after the signal. No other signal may interrupt this
// handler: that signal's handler would see this handler's first instruction instead of the blocking call that it
// interrupted, so the signal would stay queued while the thread continues to sleep. exec blocks the watchdog's signal
// up to here (core/image/exec.cc).
void install_watchdog_handler() {
  set_real_action(kWatchdogSignal, reinterpret_cast<std::uint64_t>(&core_on_watchdog),
                  SA_SIGINFO | SA_ONSTACK | SA_RESTART, ~kNeverBlocked);
  const std::uint64_t bit = signal_bit(kWatchdogSignal);
  sys(SYS_rt_sigprocmask, SIG_UNBLOCK, &bit, nullptr, 8);
}

void install_core_handlers() {
  const auto dispatch = reinterpret_cast<std::uint64_t>(&core_on_sigsys);
  constexpr std::uint64_t kFlags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  set_real_action(SIGSYS, dispatch, kFlags);
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
    set_real_action(number, reinterpret_cast<std::uint64_t>(&core_on_fault), kFlags);
  const std::uint64_t ours = always_handled() & ~signal_bit(kWatchdogSignal);
  sys(SYS_rt_sigprocmask, SIG_UNBLOCK, &ours, nullptr, 8);  // the process that started this one may have blocked them
  if (live() && !replaying()) install_watchdog_handler();
  for (const int number : {SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU})
    if (live() && signal_action(number).handler == 0) apply_disposition(number);
  if (process().catches_all.load() != 0) catch_all_signals(true);
}

KernelStack core_stack(const Thread& thread) {
  const std::uint64_t base = kStacksBase + thread.id * kCoreStackBytes + 4096;
  return {base, 0, 0, thread.stack_top - base};
}

namespace {

// A seccomp filter of the program's own is emulated, and unknown to the kernel (seccomp.h).
[[noreturn]] void no_dispatch(long error) {
  const bool filtered = sys(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0) != 0;
  Text text;
  if (filtered || error != -EINVAL)
    text << (filtered ? "a seccomp filter around reweave" : "something on this system")
         << " forbids Syscall User Dispatch (prctl " << PR_SET_SYSCALL_USER_DISPATCH << ", error "
         << static_cast<int>(-error) << "); allow it in the sandbox or container, or run reweave outside of it";
  else
    text << "this kernel has no Syscall User Dispatch (Linux 5.11 or later, x86-64); record on a newer kernel";
  stop_run(wire::OutcomeKind::kUnsupported, text);
}

}  // namespace

void prepare_thread(Thread& thread) {
  const KernelStack alternate = core_stack(thread);
  sys(SYS_sigaltstack, &alternate, nullptr);
  const auto begin = reinterpret_cast<std::uint64_t>(core_text_start);
  const auto bytes = static_cast<std::uint64_t>(core_text_end - core_text_start);
  static const char always_block = 1;  // SYSCALL_DISPATCH_FILTER_BLOCK: only the core's text is let through
  const long result = sys(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, 1, begin, bytes, &always_block);
  if (result != 0) no_dispatch(result);
  sys(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV);
  if (replaying()) sys(SYS_prctl, PR_SET_PTRACER, -1L);  // lets gdb attach under Yama's restriction
}

bool is_to_catch_all() {
  const std::uint8_t all = process().catches_all.load();
  return all == kCatching || all == kCatchesAll;
}

void set_kernel_action(int number) {
  if (is_synchronous(number) || number == SIGSYS || number == kWatchdogSignal) return;
  const SignalAction& action = signal_action(number);
  const bool traced = is_to_catch_all();
  const bool stops = action.handler == 0 && !traced && (kTerminalStops & signal_bit(number)) != 0;
  const bool caught = action.handler > 1 || stops || traced || (action.handler == 0 && number == SIGPIPE);
  std::uint64_t kept = action.flags & (SA_NOCLDSTOP | SA_NOCLDWAIT);
  if (!caught) return set_real_action(number, action.handler, kept);
  if (action.handler == 1 && number == SIGCHLD) kept |= SA_NOCLDWAIT;
  // Blocks the others, so that signals queue in the order in which the kernel delivers them, and the watchdog's, whose
  // handler also queues signals (ptrace/tracing.h, on_kick).
  set_real_action(number, reinterpret_cast<std::uint64_t>(stops ? &core_on_stop : &core_on_asynchronous),
                  SA_SIGINFO | SA_ONSTACK | SA_NODEFER | kept, ~kNeverBlocked | signal_bit(kWatchdogSignal));
}

void apply_disposition(int number) {
  Process& here = handlers_owner();
  const std::uint64_t handler = signal_action(number).handler;
  here.handled_signals &= ~signal_bit(number);
  here.ignored_signals &= ~signal_bit(number);
  if (handler > 1) here.handled_signals |= signal_bit(number);
  if (handler == 1) here.ignored_signals |= signal_bit(number);
  if (live()) set_kernel_action(number);
}

void catch_all_signals(bool all) {
  std::uint8_t under_way = all ? kCatching : kReleasing;
  process().catches_all.store(under_way);
  for (int number = 1; live() && number <= kSignalCount; number++)
    if (number != SIGKILL && number != SIGSTOP) set_kernel_action(number);
  // Unless another thread has started the opposite change.
  process().catches_all.compare_exchange_strong(under_way, all ? kCatchesAll : 0);
}

}  // namespace reweave::core
