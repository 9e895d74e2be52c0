// PID namespaces (pid_namespaces(7)) that the program makes: one level below the one that the tree starts in.
//
// A namespace has the index of its first process as its number, that of the start is 0. Whoever lives in another has
// two ids: `tid` and `pid`, as it knows itself, and `outer_tid` and `outer_pid`, as those in namespace 0 and the
// supervisor know it. In namespace 0 both are the same. A replay makes no namespaces: its real ids are what its kernel
// gives.
//
// Thread rule: with the baton, but for note_real_ids.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Of Thread::pids_of_children: the next child is the first of a namespace (unshare(2)).
inline constexpr std::uint16_t kNewPidNamespace = 0xffff;

inline std::uint16_t pid_namespace_of(const Thread& thread) { return state().processes[thread.process].pid_namespace; }

// The first process of a namespace that the program made: no signal ends or stops it that it does not handle, but
// SIGKILL and SIGSTOP from outside, and faults.
inline bool is_namespace_init(const Process& process) {
  return process.index != 0 && process.pid_namespace == process.index;
}

// What those in that namespace know it by; 0: they do not see it.
long id_seen_from(std::uint16_t pid_namespace, const Thread& thread);
long id_seen_from(std::uint16_t pid_namespace, const Process& process);

// By what the calling process names it in system calls of the core's own; an id that nobody has if it cannot.
long kernel_id(const Thread& thread);
long kernel_id(const Process& process);

// The namespace whose ids /proc has, as the calling process has it mounted: its own, or the outer one. A replay's
// answer is the caller's own.
std::uint16_t namespace_of_proc();
// Recording: what the caller knows a process by that namespace 0 knows by `id`; -1: it does not see it.
long id_from_outside(long id);

// A thread begins, or its process has another image: notes its real ids.
void note_real_ids(Thread& me);
// Recording: waits until a new thread, whose creator got `id`, in a namespace of the program's has noted its ids.
// False: it was killed before.
bool await_ids(Thread& child, long id);

}  // namespace reweave::core
