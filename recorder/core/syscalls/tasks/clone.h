// Creation of threads and processes. clone.cc reads the request; threads.cc and processes.cc carry it out, with common
// parts in spawn.cc.
//
// Syscall User Dispatch, the GS base and the alternate stack are per thread and not inherited by new threads. So a
// child starts in the core, sets them up, waits for the baton, and only then returns into the program.
//
// Thread rule: the baton holder only, except for what a child does before its first turn.
#pragma once

#include "recorder/core/syscalls/call.h"

extern "C" long core_clone(long number, long a, long b, long c, long d, long e, reweave::Thread* child);

namespace reweave::core {

// The common arguments of clone and clone3.
struct CloneArgs {
  std::uint64_t flags;  // without the exit signal
  std::uint64_t exit_signal;
  std::uint64_t stack_top;    // 0: the parent's stack
  std::uint64_t stack_bytes;  // 0: unknown
  std::uint64_t tls;
  std::uint64_t parent_tid;
  std::uint64_t child_tid;
  std::uint64_t pidfd;           // where the parent gets a pidfd of the child; 0: it wants none
  std::uint64_t wanted_ids = 0;  // address of the IDs that the child is to have, one for each PID namespace
  std::uint64_t wanted_count = 0;
};

// The arguments must be valid for the kernel. Returns the result of the call. create_process also returns 0 in the
// child, if that has memory of its own.
long create_thread(Call& call, const CloneArgs& args);
long create_process(Call& call, const CloneArgs& args);

// While the kernel creates a thread or process, blocks the signals that are sent to it: until it has called set_gs, the
// core's handlers take it for its creator, and would give the creator its signals. A new thread then unblocks them.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  std::uint64_t before_ = 0;
};

// map_core_stack maps the core stack of a thread about to start. set_gs, called in that thread, sets its GS base.
void map_core_stack(const Thread& thread);
void set_gs(Thread& thread);
// Maps the core stack of a thread in the caller's memory, and prepares its return into the program from the place of
// the call.
void begin_on_core_stack(const Call& call, const CloneArgs& args, Thread& child);

void inherit_attributes(const Thread& from, Thread& to);

// Creation failed: frees the child's slot, which no other thread can have seen, and completes the call with `error`.
long creation_failed(Call& call, Thread& child, long error);
// Logs the call and the child, or checks them. Returns the child's ID as the target sees it: the kernel's when
// recording, the recorded one when replaying, the model's in an explored run.
long log_child(Call& call, Thread& child, long real_tid, wire::SpawnKind kind, Output output = {0, 0});
// Trace: notes the process that the new thread belongs to.
void trace_spawn(const wire::SpawnRecord& record);
void trace_fork(const Call& call, const Thread& child);
// If the caller's tracer wants the event of this creation, or CLONE_PTRACE is set, the tracer also traces the child,
// which stops when it starts.
void stop_for_child(Call& call, Thread& child, const CloneArgs& args);

// Opens a pidfd of the child, stores it for the parent at `args.pidfd` and returns that output. Does nothing in a
// replay, or if the parent wants none.
Output give_pidfd(const CloneArgs& args, const Thread& child, long real_tid);
// Returns 0, or the error that creating a pidfd would return, while there is nothing to undo yet. Faults if the address
// for the pidfd is invalid.
long try_pidfd(const CloneArgs& args);

}  // namespace reweave::core
