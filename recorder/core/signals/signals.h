// Delivery of signals to the target: its handlers, masks and alternate stacks are virtual, ours are the real ones.
//
// Asynchronous signals are queued by a handler of ours (signal_queue.h) and delivered at schedule points, logged;
// synchronous ones are delivered where they occur and recur by themselves in replay.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"
#include "recorder/core/schedule/due_signals.h"

namespace reweave::core {

// True if `ip` is in the core's own code.
bool in_core(std::uint64_t ip);

// True if the handler of the first signal that is due has SA_RESTART, or there is none.
bool due_signal_restarts();

// Delivers what is due by changing `context`, to which the caller will return. `interrupted`: the system call just
// emulated failed with EINTR and may be restarted; `number` is that call's.
void deliver_signals(KernelContext& context, bool interrupted, long number);

// The target's rt_sigreturn: `context` becomes what its handler returns to, or if it has no such frame, that of the
// handler of SIGSEGV. False: it has none, and dies.
bool return_from_handler(KernelContext& context);

// The result of a call that a signal kept from starting: after the handler it is made as if for the first time. The
// kernel's ERESTARTSYS, which no program ever sees.
inline constexpr long kNotStarted = -512;

// A system call that may block; returns kNotStarted if a signal was queued, or the thread kicked, before it could
// block: `interruptions` is interruptions_of(self()).
extern "C" long core_blocking_syscall(long number, const long* args, const std::uint64_t* interruptions);
const std::uint64_t* interruptions_of(const Thread& thread);
// From a signal handler that interrupted `registers`: a call that is about to block, does not; one that the kernel
// would restart returns -EINTR.
void leave_blocking_call(KernelRegisters& registers);

}  // namespace reweave::core
