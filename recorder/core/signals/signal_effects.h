// What a signal does to the thread that takes it: its handler runs, or the process dies, stops, or does nothing.
//
// Thread rule: with the baton.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"
#include "recorder/core/signals/signal_queue.h"

namespace reweave::core {

// What a signal does to a process that does not handle it (signal(7)).
enum class DefaultAction : std::uint8_t { kTerminate, kIgnore, kStop, kContinue };
// What `number` does to `process`: kIgnore if it has a handler, or is the first of a PID namespace (pid_namespaces.h).
DefaultAction default_action(const Process& process, int number);

// What the kernel tells of a fault of its own making (SI_KERNEL).
inline constexpr std::int32_t kForcedFault[32] = {SIGSEGV, 0, 0x80};

// Logs that `me` takes the signal; replaying, checks it.
void log_signal(Thread& me, int number, bool external, const void* info);

// The handler runs next. If there is no room for its frame, that of SIGSEGV does, or the process dies of that.
void enter_handler(KernelContext& context, int number, const void* info);

// The target dies of `number` when it goes on: it gets the signal with its own registers, as debuggers expect.
// `recurs`: going on causes it again; otherwise it has to be sent.
void die_on_return(KernelContext& context, int number, bool recurs);
// The same, logged, whatever the process does with that signal.
void die_of(KernelContext& context, int number);

// What a signal that the tracer let through does.
void act_on(KernelContext& context, const QueuedSignal& signal);

}  // namespace reweave::core
