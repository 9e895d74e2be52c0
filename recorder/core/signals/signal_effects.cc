#include "recorder/core/signals/signal_effects.h"

#include <linux/ptrace.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/base/real_actions.h"
#include "recorder/core/log/log.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/signals/hooks.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/restarts.h"
#include "recorder/core/signals/signal_frames.h"
#include "recorder/core/signals/stops.h"

namespace reweave::core {

DefaultAction default_action(const Process& process, int number) {
  const Process& target = state().processes[process.handlers_of];
  const std::uint64_t bit = signal_bit(number);
  if (is_namespace_init(process)) return DefaultAction::kIgnore;  // even if it has a handler
  if (number == SIGKILL) return DefaultAction::kTerminate;
  if (number != SIGSTOP && ((target.handled_signals | target.ignored_signals) & bit) != 0)
    return DefaultAction::kIgnore;
  if (number == SIGCONT) return DefaultAction::kContinue;
  if (((kTerminalStops | signal_bit(SIGSTOP)) & bit) != 0) return DefaultAction::kStop;
  return (kIgnoredByDefault & bit) != 0 ? DefaultAction::kIgnore : DefaultAction::kTerminate;
}

namespace {

// Describes the signal for the message of a replay whose recording has no such signal here.
Text what_came(int number, bool external, const void* info) {
  constexpr std::uint64_t kAddress = 16;  // of si_addr in siginfo_t
  std::uint64_t address = 0;
  memcpy(&address, static_cast<const std::byte*>(info) + kAddress, sizeof address);
  Text text;
  text << "received signal " << number;
  if (!external) (text << " for ").hex(address);
  return text;
}

}  // namespace

void log_signal(Thread& me, int number, bool external, const void* info) {
  if (replaying()) {
    const Text received = what_came(number, external, info);
    const auto& record = expect<wire::SignalRecord>(wire::RecordKind::kSignal, received.c_str());
    if (record.number != static_cast<std::uint32_t>(number)) diverged(received.c_str(), &record.header);
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

namespace {

// The first process of a PID namespace is immune to signals that it sends itself, but not to faults.
void send_death(KernelContext& context, int number) {
  if (!live() || !is_namespace_init(process())) {
    sys(SYS_tgkill, sys(SYS_getpid), sys(SYS_gettid), number);
  } else if (number == SIGSEGV) {
    context.registers.rip = 0;
  } else {
    sys(SYS_exit_group, 128 + number);
  }
}

}  // namespace

void die_on_return(KernelContext& context, int number, bool recurs) {
  if (number != SIGKILL) tracer_hooks.stop_at_event(context, PTRACE_EVENT_EXIT, static_cast<std::uint64_t>(number));
  end_process(number);
  set_real_action(number, 0, 0);
  const std::uint64_t all = ~std::uint64_t{0};
  sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, nullptr, 8);
  if (!recurs) send_death(context, number);
  context.mask &= ~signal_bit(number);
}

void die_of(KernelContext& context, int number) {
  const std::int32_t info[32] = {number};
  log_signal(self(), number, false, info);
  die_on_return(context, number, false);
}

void enter_handler(KernelContext& context, int number, const void* info) {
  if (push_signal_frame(context, number, info)) return;
  const bool caught = signal_action(SIGSEGV).handler > 1 && (self().signal_mask & signal_bit(SIGSEGV)) == 0;
  if (number == SIGSEGV || !caught || !push_signal_frame(context, SIGSEGV, kForcedFault))
    die_on_return(context, SIGSEGV, false);
}

void act_on(KernelContext& context, const QueuedSignal& signal) {
  const int sig = static_cast<int>(signal.number);
  const SignalAction action = signal_action(sig);
  if (action.handler > 1 && sig != SIGKILL && sig != SIGSTOP) {
    if (Tracee* tracee = tracee_of(self())) settle_restart(context, *tracee, &action);
    enter_handler(context, sig, signal.info);
    if (process().alive != 0) tracer_hooks.stop_in_stepped_handler(context);
    return;
  }
  switch (default_action(process(), sig)) {
    case DefaultAction::kIgnore:
    case DefaultAction::kContinue:
      return;
    case DefaultAction::kStop:
      self().tracee != 0 ? tracer_hooks.stop_in_group(sig) : stop_here(sig);
      return;
    default:
      die_on_return(context, sig, false);
  }
}

}  // namespace reweave::core
