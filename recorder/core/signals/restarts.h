// A system call that a signal interrupted, and that is made again. While a traced thread stands still its registers
// say, as the kernel has it, whether it will be, and its tracer may change that: rax holds an error that no program
// sees, orig_rax the call (arch/x86/kernel/signal.c, handle_signal and arch_do_signal_or_restart).
//
// Thread rule: the baton holder, of itself.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// Whether a call interrupted by a handler starts over (signal(7)); `wanted`: it has SA_RESTART. `registers` are those
// that the call was made with.
bool restarts_after_signal(long number, const KernelRegisters& registers, bool wanted);
// Whether a call that was interrupted only by a stop is made again (signal(7)).
bool goes_on_after_stop(long number);
// The next instruction is the call that `context` has just left.
void make_again(KernelContext& context, long number);

// A traced thread's `context` has just left call `number`: interrupted, with -EINTR, or kept from starting.
void begin_restart(KernelContext& context, Tracee& tracee, long number);
void begin_call_again(KernelContext& context, Tracee& tracee, long number);
// Before `handler` runs; null: none does.
void settle_restart(KernelContext& context, Tracee& tracee, const SignalAction* handler);

}  // namespace reweave::core
