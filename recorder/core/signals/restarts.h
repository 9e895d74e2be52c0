// System calls that a signal interrupted and that are made again. While a traced thread is stopped, its registers say
// whether its call will be restarted, as in the kernel, and its tracer may change that: rax holds an error code that no
// program sees, orig_rax the call (arch/x86/kernel/signal.c, handle_signal and arch_do_signal_or_restart).
//
// Thread rule: the baton holder, of itself.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// Whether a call interrupted by a handler is restarted (signal(7)); `wanted`: the handler has SA_RESTART. `registers`
// are those with which the call was made.
bool restarts_after_signal(long number, const KernelRegisters& registers, bool wanted);
// Whether a call interrupted only by a stop is made again (signal(7)).
bool restarts_after_stop(long number);
// Makes the thread execute the call that `context` has just left again.
void make_again(KernelContext& context, long number);

// Called when a traced thread's `context` has just left call `number`. begin_restart: the call was interrupted and
// failed with -EINTR. begin_call_again: a signal came before the call started.
void begin_restart(KernelContext& context, Tracee& tracee, long number);
void begin_call_again(KernelContext& context, Tracee& tracee, long number);
// Decides the restart before `handler` runs; null: no handler runs.
void settle_restart(KernelContext& context, Tracee& tracee, const SignalAction* handler);

}  // namespace reweave::core
