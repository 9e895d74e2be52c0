// PID namespaces (pid_namespaces(7)) created by the program: one level below the one in which the tree starts.
//
// A namespace is numbered by the index of its first process; the initial one is 0. A process in another one has two
// IDs: `tid` and `pid`, as seen by itself, and `outer_tid` and `outer_pid`, as seen from namespace 0 and by the
// supervisor. In namespace 0 both are equal. A replay creates no namespaces: its real IDs are those of its kernel.
//
// Thread rule: the baton holder only, except for note_real_ids.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Value of Thread::pids_of_children: the next child is the first of a namespace (unshare(2)).
inline constexpr std::uint16_t kNewPidNamespace = 0xffff;

inline std::uint16_t pid_namespace_of(const Thread& thread) { return state().processes[thread.process].pid_namespace; }

// True for the first process of a namespace that the program created: only signals that it handles, SIGKILL and SIGSTOP
// from outside, and faults have an effect on it.
inline bool is_namespace_init(const Process& process) {
  return process.index != 0 && process.pid_namespace == process.index;
}

// The ID by which processes in that namespace see it; 0: they do not.
long id_seen_from(std::uint16_t pid_namespace, const Thread& thread);
long id_seen_from(std::uint16_t pid_namespace, const Process& process);

// The ID by which the calling process names it in the core's own system calls; an unused ID if it cannot.
long kernel_id(const Thread& thread);
long kernel_id(const Process& process);

// The namespace whose IDs the calling process sees in /proc: its own or the outer one. In a replay it is always its
// own.
std::uint16_t namespace_of_proc();
// Recording: the ID by which the caller sees the process with the ID `id` in namespace 0; -1: it does not see it.
long id_from_outside(long id);

// A thread starts, or its process has a new image: notes its real IDs.
void note_real_ids(Thread& me);
// Recording: waits until a new thread in a namespace of the program's has noted its IDs; `id` is the ID that its
// creator got. False: it was killed before.
bool await_ids(Thread& child, long id);

}  // namespace reweave::core
