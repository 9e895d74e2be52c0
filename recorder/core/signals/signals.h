// Delivery of signals to the target. The target's handlers, masks and alternate stacks are virtual; the kernel has the
// core's.
//
// The core's handlers queue asynchronous signals (signal_queue.h), which are delivered at schedule points and logged.
// Synchronous signals are delivered where they occur; in a replay, re-executing the instruction raises them again.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"
#include "recorder/core/schedule/due_signals.h"

namespace reweave::core {

// True if `ip` is in the core's own code.
bool in_core(std::uint64_t ip);

// True if the handler of the first due signal has SA_RESTART, or if no signal is due.
bool due_signal_restarts();

// Delivers the due signals by changing `context`, to which the caller will return. `interrupted`: the system call just
// emulated, `number`, failed with EINTR and may be restarted.
void deliver_signals(KernelContext& context, bool interrupted, long number);

// The target's rt_sigreturn: `context` becomes the state to which the handler returns, or that of the SIGSEGV handler
// if the frame is invalid. False: SIGSEGV has no handler, and the process dies.
bool return_from_handler(KernelContext& context);

// The result of a call that a signal prevented from starting; it is made after the handler as if for the first time.
// This is the kernel's ERESTARTSYS, which no program sees.
inline constexpr long kNotStarted = -512;

// Makes a system call that may block. Returns kNotStarted if a signal was queued or the thread was kicked before it
// could block; `interruptions` is interruptions_of(self()).
extern "C" long core_blocking_syscall(long number, const long* args, const std::uint64_t* interruptions);
const std::uint64_t* interruptions_of(const Thread& thread);
// From a signal handler that interrupted `registers`: a call about to block does not block; a call that the kernel
// would restart returns -EINTR.
void leave_blocking_call(KernelRegisters& registers);

}  // namespace reweave::core
