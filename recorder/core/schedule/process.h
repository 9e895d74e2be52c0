// Processes of the target's tree and the threads in them: creation and end.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Logs that the calling process ends with `wait_status` (wait(2)) and takes its threads out of the schedule; the
// baton goes to another process. The caller then ends the process for real.
void end_process(int wait_status);

// Traced: a thread begins or ends here.
void trace_thread_edge(EventKind kind, const Thread& thread);

// A thread's end as the kernel does it: robust mutexes, the join futex.
void finish_thread(Thread& thread);

// Stores a thread's id, or 0, for the program. Where it has no memory that it can write, nothing is stored, and nobody
// is told (clone(2)).
void store_tid(std::uint64_t address, std::int32_t tid);

// Another process has its memory (CLONE_VM).
bool memory_is_shared(const Process& target);

// Process `index` of the tree is dead, or will be, with `wait_status`: it takes no part any more.
void forget_process(std::uint16_t index, std::int32_t wait_status);
// Recording, after that: says so for a process that the call before killed.
void log_death(const Process& target, int number);

// Replay: a process was killed from outside here. Kills ours, but for the calling one.
void repeat_outside_death(const wire::ProcessExitRecord& record);
// Then that, if it is the calling one and no other was killed at the same time.
[[noreturn]] void die_outside(const wire::ProcessExitRecord& record);

// What WaitKind::kVfork waits for: the end of a process, or that of a thread.
inline std::uint64_t vfork_key(const Process& process) { return std::uint64_t{process.index} | std::uint64_t{1} << 62; }
inline std::uint64_t vfork_key(const Thread& thread) { return std::uint64_t{thread.id} | std::uint64_t{1} << 61; }

// A process that vfork suspended may go on: its child has its own image, or is gone.
void release_vfork_parent();

// The live thread or process of the tree that those in that PID namespace call by that id; null: none is.
Thread* thread_by_tid(long tid, std::uint16_t pid_namespace);
Process* process_by_pid(long pid, std::uint16_t pid_namespace);
// The same, for the calling process.
Thread* thread_by_tid(long tid);
Process* process_by_pid(long pid);

}  // namespace reweave::core
