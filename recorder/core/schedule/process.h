// Processes of the target's tree and the threads in them: creation and end.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Logs that the calling process ends with `wait_status` (wait(2)) and takes its threads out of the schedule; the
// baton goes to another process. The caller then ends the process for real.
void end_process(int wait_status);

// Traced: notes the start or end of a thread.
void trace_thread_edge(EventKind kind, const Thread& thread);

// Ends a thread as the kernel does: robust mutexes, the join futex.
void finish_thread(Thread& thread);

// Stores a thread's ID, or 0, in the program's memory. If the memory is not writable, nothing is stored and no error is
// reported (clone(2)).
void store_tid(std::uint64_t address, std::int32_t tid);

// True if another process shares its memory (CLONE_VM).
bool memory_is_shared(const Process& target);

// Process `index` of the tree is dead, or about to die, with `wait_status`: removes it from the schedule.
void forget_process(std::uint16_t index, std::int32_t wait_status);
// Recording: logs the death of a process that was killed by the preceding system call.
void log_death(const Process& target, int number);

// Replay: a process was killed from outside here. Kills its counterpart, unless that is the calling process.
void repeat_outside_death(const wire::ProcessExitRecord& record);
// Afterwards: kills the calling process, which was among those killed.
[[noreturn]] void die_outside(const wire::ProcessExitRecord& record);

// Keys of WaitKind::kVfork: the end of a process or of a thread.
inline std::uint64_t vfork_key(const Process& process) { return std::uint64_t{process.index} | std::uint64_t{1} << 62; }
inline std::uint64_t vfork_key(const Thread& thread) { return std::uint64_t{thread.id} | std::uint64_t{1} << 61; }

// The child of a process suspended by vfork has its own image or is gone: lets the parent continue.
void release_vfork_parent();

// The live thread or process of the tree with that ID in that PID namespace; null if there is none.
Thread* thread_by_tid(long tid, std::uint16_t pid_namespace);
Process* process_by_pid(long pid, std::uint16_t pid_namespace);
// Likewise, in the calling process's namespace.
Thread* thread_by_tid(long tid);
Process* process_by_pid(long pid);

}  // namespace reweave::core
