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
// Recording: makes `tracee` stop for the reasons `asked` (kAskedStop, ...) when it next may.
void ask_to_stop(Tracee& tracee, std::uint32_t asked);
// Recording: sends `tracee` SIGSTOP with `info`.
void send_stop(Tracee& tracee, const void* info);

// Recording: turns the kernel's stop of a new tracee's process into a group-stop that the core keeps. The other threads
// of the process run until they are traced.
void keep_stopped(Tracee& tracee);

// Recording: reports another stop of a tracee that is in a group-stop and listens (PTRACE_LISTEN).
void restart_group_stop(Tracee& tracee);
// Recording: tracees of the process begin a group-stop because one of them received `number`, a stop signal.
void begin_group_stop(Process& target, int number);
// Recording: SIGCONT, sent to the process, ends its group-stop and cancels stops that have not begun. Seized tracees
// stop once more to report that, even if they ran.
void end_group_stop(Process& target);

// Sets the kernel's signal dispositions of the calling process according to whether it is traced.
void follow_tracing();
// Recording: waits until the process of a new tracee has called follow_tracing.
void await_readiness(const Tracee& tracee);

// Live: if the calling thread was asked to stop, queues marks for that (signal_queue.h).
void take_requests();
// Live: a mark is delivered. Decides what it stands for by now, and stores that in `signal`: SIGSTOP with its siginfo,
// or a mark whose si_errno is the signal of the group-stop in effect, or 0. False: no reason to stop is left.
bool settle_request(QueuedSignal& signal);

// The calling thread was kicked.
void on_kick(KernelContext& context);

// True if the thread is in one of the system calls that wait for children.
bool waits_for_children(const Thread& thread);

}  // namespace reweave::core
