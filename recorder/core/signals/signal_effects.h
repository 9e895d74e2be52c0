// The effect of a signal on the thread that receives it: its handler runs, or the process dies, stops, or ignores it.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"
#include "recorder/core/signals/signal_queue.h"

namespace reweave::core {

// Default actions of signals (signal(7)).
enum class DefaultAction : std::uint8_t { kTerminate, kIgnore, kStop, kContinue };
// Returns the default action of `number` for `process`; kIgnore if the process handles the signal or is the first of a
// PID namespace (pid_namespaces.h).
DefaultAction default_action(const Process& process, int number);

// The siginfo of a fault raised by the kernel itself (SI_KERNEL).
inline constexpr std::int32_t kForcedFault[32] = {SIGSEGV, 0, 0x80};

// Logs that `me` receives the signal; a replay checks it.
void log_signal(Thread& me, int number, bool external, const void* info);

// Makes the handler run next. If its frame does not fit, SIGSEGV's handler runs, or the process dies of SIGSEGV.
void enter_handler(KernelContext& context, int number, const void* info);

// The target dies of `number` when it resumes: it receives the signal with its own registers, as debuggers expect.
// `recurs`: resuming raises the signal again; otherwise it is sent.
void die_on_return(KernelContext& context, int number, bool recurs);
// The same, but the signal is also logged, regardless of the process's action for it.
void die_of(KernelContext& context, int number);

// Applies the effect of a signal that the tracer let through.
void act_on(KernelContext& context, const QueuedSignal& signal);

}  // namespace reweave::core
