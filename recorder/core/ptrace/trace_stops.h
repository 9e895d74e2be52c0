// Stops of the calling thread, which is traced, until its tracer resumes it (ptrace(2)). `context` is the state to
// which it returns; the tracer may change all of it.
//
// Thread rule: the baton holder only; it gives the baton away during the stop.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// Before `signal` is delivered; `signal` becomes the one that the tracer chooses. False: none is delivered.
bool stop_for_signal(KernelContext& context, QueuedSignal& signal);
// When stop signal `number` takes effect.
void stop_in_group(int number);
// At PTRACE_EVENT_... `event`, if the tracer asked for it (PTRACE_O_TRACE...).
void stop_at_event(KernelContext& context, int event, std::uint64_t message);
bool wants_event(const Thread& thread, int event);

// Around a system call. enter_traced_call may change `number`; false: the call is not to be made, and its result is in
// rax.
bool enter_traced_call(KernelContext& context, long& number);
// For a call that the thread's own filters leave to its tracer (PTRACE_EVENT_SECCOMP), which receives `message`. Result
// as for enter_traced_call.
bool stop_by_filter(KernelContext& context, long& number, std::uint64_t message);
void leave_traced_call(KernelContext& context);

// Single steps. The trap flag that the tracer asked for is cleared in `context` while the core works on it, and set
// again afterwards. A step whose instruction the core carried out ends with finish_step.
void suspend_stepping(KernelContext& context);
void resume_stepping(KernelContext& context);
bool is_stepping(const Thread& thread);
void finish_step(KernelContext& context);
void stop_in_handler(KernelContext& context);  // in the handler that was just entered

// Stops at the first instruction of a new image.
void stop_after_exec(KernelContext& context);
// In a new thread or process that is traced from its start: it stops at its next delivery of signals. begin_traced
// delivers its signals, because such a thread does not return from a call.
void await_first_stop();
void begin_traced(KernelContext& context);

}  // namespace reweave::core
