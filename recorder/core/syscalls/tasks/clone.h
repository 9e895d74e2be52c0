// Threads and processes: creation. clone.cc reads what the program asks for; threads.cc and processes.cc make it, with
// what both need from spawn.cc.
//
// Syscall User Dispatch, the GS base and the alternate stack are per thread and not inherited by new threads, so a
// child starts in the core, sets them up, waits for the baton, and only then returns into the program.
//
// Thread rule: with the baton, but what a child does before its first turn.
#pragma once

#include "recorder/core/syscalls/call.h"

extern "C" long core_clone(long number, long a, long b, long c, long d, long e, reweave::Thread* child);

namespace reweave::core {

// What clone and clone3 have in common.
struct CloneArgs {
  std::uint64_t flags;  // without the exit signal
  std::uint64_t exit_signal;
  std::uint64_t stack_top;    // 0: the parent's
  std::uint64_t stack_bytes;  // 0: not told
  std::uint64_t tls;
  std::uint64_t parent_tid;
  std::uint64_t child_tid;
  std::uint64_t pidfd;           // where the parent finds a descriptor of the child; 0: it wants none
  std::uint64_t wanted_ids = 0;  // address of the ids that the child is to have, one for each PID namespace
  std::uint64_t wanted_count = 0;
};

// With arguments that the kernel would take. The result of the call; in a process with memory of its own, 0.
long create_thread(Call& call, const CloneArgs& args);
long create_process(Call& call, const CloneArgs& args);

// Memory for the core's stack of a thread that is to start, and, in that thread, its GS base.
void map_core_stack(const Thread& thread);
void set_gs(Thread& thread);
// Likewise, of a thread in the caller's memory: it will return to the program there.
void begin_on_core_stack(const Call& call, const CloneArgs& args, Thread& child);

void inherit_attributes(const Thread& from, Thread& to);

// A creation that fails: the slot that was prepared is given back. No other thread can have seen it.
long creation_failed(Call& call, Thread& child, long error);
// Logs the call and the child, or checks them. The child's id as the target sees it: the kernel's when recording, the
// recorded one when replaying.
long log_child(Call& call, Thread& child, long real_tid, wire::SpawnKind kind, Output output = {0, 0});
// Trace: passes on to which process the new thread belongs.
void trace_spawn(const wire::SpawnRecord& record);
void trace_fork(const Call& call, const Thread& child);
// If the caller's tracer wants that event: it traces the child, too, which stops when it begins. With CLONE_PTRACE it
// does in any case.
void stop_for_child(Call& call, Thread& child, const CloneArgs& args);

// A descriptor of the child, which the parent finds at `args.pidfd`; nothing in a replay, or if it wants none.
Output give_pidfd(const CloneArgs& args, const Thread& child, long real_tid);
// 0, or why there could be none, before there is anything to undo. The call fails here if it could not be found.
long try_pidfd(const CloneArgs& args);

}  // namespace reweave::core
