#include "recorder/core/signals/signals.h"

#include <sys/syscall.h>

#include "recorder/core/base/entry_points.h"
#include "recorder/core/base/real_actions.h"
#include "recorder/core/log/kernel_step.h"
#include "recorder/core/log/log.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/signals/forced_signals.h"
#include "recorder/core/signals/hooks.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/restarts.h"
#include "recorder/core/signals/signal_effects.h"
#include "recorder/core/signals/signal_frames.h"
#include "recorder/core/signals/signal_queue.h"
#include "recorder/core/signals/stops.h"

// Hidden: otherwise the compiler would access them through a GOT, which a static image lacks.
#pragma GCC visibility push(hidden)
extern "C" {
extern char core_blocking_begin[], core_blocking_end[], core_blocking_interrupted[];
extern char core_text_start[], core_text_end[];
}
#pragma GCC visibility pop

namespace reweave::core {

bool in_core(std::uint64_t ip) {
  return ip >= reinterpret_cast<std::uint64_t>(core_text_start) && ip < reinterpret_cast<std::uint64_t>(core_text_end);
}

// May run at any instant in any thread, even in the core: it only queues the signal and makes the thread check soon.
extern "C" void core_on_asynchronous(int number, void* info, void* raw_context) {
  allow_unaligned(*static_cast<KernelContext*>(raw_context));
  Thread& me = self();
  auto& registers = static_cast<KernelContext*>(raw_context)->registers;
  if (is_kick(info)) {  // SIGCONT, which only had to continue the process
    me.unseen_signals++;
    return;
  }
  // Blocks further signals when the queue is nearly full, so that the kernel keeps them. The margin is for nested
  // handlers: when an interrupted handler of the core returns, its own mask applies again.
  constexpr std::uint32_t kNested = 8;
  queue_signal(me, number, info, true);
  if (me.queued.load() >= kSignalQueue - kNested) static_cast<KernelContext*>(raw_context)->mask |= ~kNeverBlocked;
  note_interruption();
  if (state().holder.load() == me.id + 1u && !in_core(registers.rip)) end_slice();
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
  // `syscall` stores the address after it in rcx. If it is there, the call had started, and the kernel was about to
  // restart it after another handler.
  const bool started = registers.rcx == end;
  if (started) registers.rax = static_cast<std::uint64_t>(-EINTR);
  registers.rip = started ? end : reinterpret_cast<std::uint64_t>(core_blocking_interrupted);
}

namespace {

// Delivers a signal of a traced thread. Its tracer sees the signal first, even if the program ignores it.
void deliver_traced(KernelContext& context, QueuedSignal signal) {
  Thread& me = self();
  const std::uint32_t original = signal.number;
  log_signal(me, static_cast<int>(signal.number), signal.external != 0, signal.info);
  if (!tracer_hooks.stop_for_signal(context, signal)) return;
  const int sig = static_cast<int>(signal.number);
  const bool blocked = signal.number != original && (me.signal_mask & signal_bit(sig)) != 0;
  if (!blocked)
    act_on(context, signal);
  else if (live())
    sys(SYS_rt_tgsigqueueinfo, sys(SYS_getpid), sys(SYS_gettid), sig, signal.info);
}

// Replay: sends this thread, through the kernel, the signal that the program is about to receive from the core. Only a
// debugger notices it.
void show_to_debugger(int number, const void* info) {
  if (!replaying() || config().patch_calls != 0 || arena().status.event.load() < config().stop_event) return;
  set_real_action(number, kIgnored, 0);
  sys(SYS_rt_tgsigqueueinfo, sys(SYS_getpid), sys(SYS_gettid), number, info);
}

// False: no handler of the program runs, so the interrupted call may still be made again.
bool deliver_one(KernelContext& context, const QueuedSignal& signal, bool interrupted, long number) {
  Thread& me = self();
  const int sig = static_cast<int>(signal.number);
  const SignalAction action = signal_action(sig);
  const DefaultAction otherwise = default_action(process(), sig);
  const bool nothing = otherwise == DefaultAction::kIgnore || otherwise == DefaultAction::kContinue;
  if (action.handler <= 1 && nothing) return true;
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
  show_to_debugger(sig, signal.info);
  enter_handler(context, sig, signal.info);
  return true;
}

}  // namespace

namespace {

QueuedSignal recorded_signal() {
  const auto& record = wire::record_cast<wire::SignalRecord>(*peek_record());
  QueuedSignal signal = {record.number, 1, {}};
  memcpy(signal.info, record.info, sizeof signal.info);
  if (signal.number == 0 || signal.number > kSignalCount) diverged("read a damaged signal", &record.header);
  return signal;
}

// Takes the signal to deliver. False: it is not delivered after all.
bool next_signal(Thread& me, QueuedSignal& signal) {
  if (replaying()) {
    signal = recorded_signal();
    return true;
  }
  return take_next(me, signal) && (!is_mark(signal) || tracer_hooks.settle_request(signal));
}

void restore_mask(Thread& me) {
  if (me.has_saved_mask == 0) return;
  me.signal_mask = me.saved_mask;
  me.has_saved_mask = 0;
}

}  // namespace

bool due_signal_restarts() {
  const Thread& me = self();
  if (!signal_due(me)) return true;
  const std::uint32_t number = replaying() ? wire::record_cast<wire::SignalRecord>(*peek_record()).number
                                           : me.signals[first_deliverable(me)].number;
  if (number == 0 || number > kSignalCount) return true;
  const SignalAction action = signal_action(static_cast<int>(number));
  return action.handler <= 1 || (action.flags & SA_RESTART) != 0;
}

void deliver_signals(KernelContext& context, bool interrupted, long number) {
  Thread& me = self();
  if (!interrupted) restore_mask(me);
  if (me.has_saved_mask != 0) apply_signal_mask(me);  // the kernel took the first of the signals that end the call
  if (me.held != 0) release_held(me);
  bool stopped = false;
  while (signal_due(me)) {
    arm();  // a clock read may have left its point uncounted; a signal may come at any instant
    QueuedSignal signal = {};
    if (!next_signal(me, signal)) continue;
    if (tracing()) trace_signal(context.registers.rip);
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
  if (stopped && interrupted && restarts_after_stop(number)) make_again(context, number);
  if (Tracee* tracee = tracee_of(me)) settle_restart(context, *tracee, nullptr);
  restore_mask(me);
  if (live() && me.queued.load() != 0) put_back_blocked(me);
  context.mask = live() ? real_mask(me.signal_mask) : 0;
}

bool return_from_handler(KernelContext& context) {
  const bool whole = pop_signal_frame(context);
  if (!whole) force_signal(context, SIGSEGV, kForcedFault);
  if (process().alive != 0) take_pending_defaults(self());
  return process().alive != 0;
}

}  // namespace reweave::core
