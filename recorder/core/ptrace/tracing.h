// ptrace(2) among the processes of the tree: who traces whom, and how a tracer is notified. The kernel takes no part.
//
// A tracee stops where it enters the core (trace_stops.h). The tracer's requests (syscalls/ptrace.cc) find its
// registers in the arena and its memory through /proc/PID/mem. All of this happens with the baton, so a replay repeats
// it; only the results of a tracer's waits are recorded (syscalls/wait_calls.cc). A thread that sleeps in the kernel is
// kicked: the watchdog's signal with a special value makes it check again.
//
// Thread rule: the baton holder only, except for on_kick.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// True if a thread of the process is traced; then the core delivers all its signals.
bool is_traced(const Process& target);

// Kills the tracee's process by SIGKILL and logs the death.
void kill_tracee(const Tracee& tracee);

// Makes `tracer` trace `target`; null if there are too many tracees.
Tracee* begin_tracing(Thread& target, const Thread& tracer, bool seized);
// Detaches the tracee, and resumes it if it is stopped.
void end_tracing(Tracee& tracee);
// The process ends, for any reason, with `wait_status`: notifies its tracers. Releases its own tracees, or kills those
// for which it asked for that (PTRACE_O_EXITKILL).
void leave_tracing(std::uint16_t process, std::int32_t wait_status);
// The same when thread `thread` ends.
void leave_tracing(const Thread& thread, std::int32_t wait_status);

// Recording: makes the tracer's waits check again, and sends it SIGCHLD with this si_code.
void tell_tracer(const Tracee& tracee, int code);
// Recording: makes `thread`, of any process of the tree, check again.
void kick(const Thread& thread);
// Recording: makes threads of the process that wait in the kernel for children check again.
void kick_waiting(std::uint16_t process);
// Recording: sends `tracee` SIGSTOP with `info`; with null, stops it as by PTRACE_INTERRUPT.
void ask_to_stop(Tracee& tracee, const void* info);

// Recording: turns the kernel's stop of a new tracee's process into a group-stop that the core keeps. The other threads
// of the process run until they are traced.
void keep_stopped(Tracee& tracee);

// Values of Tracee::listening. A tracee that is continued before its tracer listens stops again as soon as the tracer
// listens (JOBCTL_TRAP_NOTIFY in the kernel's signal.c).
inline constexpr std::uint32_t kListens = 1, kContinuedBefore = 2;

// Reports another stop of a tracee that is in a group-stop and listens (PTRACE_LISTEN): PTRACE_EVENT_STOP with
// `number`, which is SIGTRAP once nothing stops it any more.
void restart_group_stop(Tracee& tracee, int number);

// Sets the kernel's signal dispositions of the calling process according to whether it is traced.
void follow_tracing();
// Recording: waits until the process of a new tracee has called follow_tracing.
void await_readiness(const Tracee& tracee);

// Live: if the calling thread is traced, turns the requests made to it into signals in its queue.
void take_requests();

// The calling thread was kicked.
void on_kick(KernelContext& context);

// Recording: stops the other tracees of the process because `tracee` received `number`, a stop signal.
void stop_others(const Tracee& tracee, int number);

// True if the thread is in one of the system calls that wait for children.
bool waits_for_children(const Thread& thread);

}  // namespace reweave::core
