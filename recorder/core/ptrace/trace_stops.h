// Where the calling thread, which is traced, stands still until its tracer resumes it (ptrace(2)). `context` is what it
// returns to: the tracer may change all of it.
//
// Thread rule: the baton holder only, which is given away meanwhile.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// Before the delivery of `signal`, which becomes what the tracer wants to be delivered. False: nothing is.
bool stop_for_signal(KernelContext& context, QueuedSignal& signal);
// A stop signal takes effect.
void stop_in_group(KernelContext& context, int number);
// If the tracer asked for it (PTRACE_O_TRACE...): at PTRACE_EVENT_... `event`.
void stop_at_event(KernelContext& context, int event, std::uint64_t message);
bool wants_event(const Thread& thread, int event);

// Around a system call. enter_traced_call may change `number`; false: the call is not to be made, its result is in
// rax. `restarts`: a signal interrupted it (restarts.h).
bool enter_traced_call(KernelContext& context, long& number);
// Where the thread's own filters leave the call to its tracer (PTRACE_EVENT_SECCOMP), which gets `message`: as
// enter_traced_call.
bool stop_by_filter(KernelContext& context, long& number, std::uint64_t message);
void leave_traced_call(KernelContext& context, bool restarts);

// Single steps. What the tracer asked for is taken off `context` while the core works on it, and put back behind; a
// step whose instruction the core carried out ends with finish_step.
void suspend_stepping(KernelContext& context);
void resume_stepping(KernelContext& context);
bool is_stepping(const Thread& thread);
void finish_step(KernelContext& context);
void stop_in_handler(KernelContext& context);  // the handler that was just entered

// The first instruction of a new image.
void stop_after_exec(KernelContext& context);
// In a new thread or process: if it is traced from its start it stops at its next delivery of signals; begin_traced
// is one for those that do not return from a call.
void await_first_stop();
void begin_traced(KernelContext& context);

}  // namespace reweave::core
