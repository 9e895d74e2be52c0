// ptrace(2) among the processes of the tree: who traces whom, and how a tracer learns of it. The kernel takes no part.
//
// A tracee stands still where it enters the core (trace_stops.h); the tracer's requests (syscalls/ptrace.cc) find its
// registers in the arena, and its memory through /proc/PID/mem. All of it happens with the baton, so a replay does the
// same again: only what tracers wait for and are told is recorded (syscalls/wait_calls.cc). A thread that sleeps in the
// kernel is kicked: the watchdog's signal with a value of its own makes it look again.
//
// Thread rule: the baton holder only, but for on_kick.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// True if a thread of the process is traced: then its signals are all the core's to deliver.
bool is_traced(const Process& target);

// Ends the tracee's process by SIGKILL, and logs that.
void kill_tracee(const Tracee& tracee);

// Makes `tracer` trace `target`; null: there are too many tracees.
Tracee* begin_tracing(Thread& target, const Thread& tracer, bool seized);
// Nobody traces it any more, and it goes on if it stands still.
void end_tracing(Tracee& tracee);
// The process ends, in whatever way, with `wait_status`: its tracers learn of it. Those whom it traces are let go;
// where the tracer wanted that (PTRACE_O_EXITKILL) they die.
void leave_tracing(std::uint16_t process, std::int32_t wait_status);
// Thread `thread` ends: likewise.
void leave_tracing(const Thread& thread, std::int32_t wait_status);

// Recording: the tracer's waits look again; it gets SIGCHLD with this si_code.
void tell_tracer(const Tracee& tracee, int code);
// Recording: `thread` of the tree looks again.
void kick(const Thread& thread);
// Recording: threads of the process that wait for children in the kernel look again.
void kick_waiting(std::uint16_t process);
// Recording: `tracee` gets SIGSTOP with `info`, or, with null, stops because it is interrupted.
void ask_to_stop(Tracee& tracee, const void* info);

// Recording: a new tracee that its process's stop keeps in the kernel goes on, to a group-stop that the core keeps. The
// other threads of its process go on as well, until they are traced.
void keep_stopped(Tracee& tracee);

// Tracee::listening. Who was continued before the tracer listens stops anew as soon as it does (JOBCTL_TRAP_NOTIFY in
// the kernel's signal.c).
inline constexpr std::uint32_t kListens = 1, kContinuedBefore = 2;

// A tracee that stands in a group-stop and listens is to have another stop: PTRACE_EVENT_STOP with `number`, which is
// SIGTRAP once nothing stops it any more.
void restart_group_stop(Tracee& tracee, int number);

// The kernel's dispositions of the calling process become what tracing wants of them.
void follow_tracing();
// Recording: waits until the process of a new tracee has done that.
void await_readiness(const Tracee& tracee);

// Live: what was asked of the calling thread, if it is traced, becomes signals in its queue.
void take_requests();

// A kick came.
void on_kick(KernelContext& context);

// Recording: the other tracees of its process stop because `tracee` took `number`, a stop signal.
void stop_others(const Tracee& tracee, int number);

// The system calls by which a thread waits for children.
bool waits_for_children(const Thread& thread);

}  // namespace reweave::core
