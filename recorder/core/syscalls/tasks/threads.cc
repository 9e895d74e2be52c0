// New threads.
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <sys/syscall.h>

#include "recorder/core/log/log.h"
#include "recorder/core/ptrace/trace_stops.h"
#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/roll_call.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/schedule/thread_table.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/signal_frames.h"
#include "recorder/core/syscalls/files/fd_sharing.h"
#include "recorder/core/syscalls/tasks/clone.h"

namespace reweave::core {

namespace {

// Traces a new thread's stack like an allocation, because stacks are reused for later threads without any call.
void trace_stack(const Call& call, const CloneArgs& args) {
  if (!tracing() || args.stack_bytes == 0) return;
  auto* words = reinterpret_cast<std::uint64_t*>(reserve_out(24));
  words[0] = wire::pack_word0(EventKind::kAlloc, kThreadStack, args.stack_top - args.stack_bytes, true);
  words[1] = wire::pack_word1(call.context.registers.rip, call.me.id);
  words[2] = args.stack_bytes;
  publish_out(24);
}

// CLONE_VFORK: waits until the child ends. The kernel must not suspend the creator, which has the baton.
void wait_for_end(Call& call, ThreadId child, long tid) {
  // The child may have ended while its creator was stopped.
  const Thread& thread = thread_of(child);
  if (thread.tid == tid && thread.state.load() != ThreadState::kExited) block({WaitKind::kVfork, vfork_key(thread), 0});
  stop_at_event(call.context, PTRACE_EVENT_VFORK_DONE, static_cast<std::uint64_t>(tid));
}

long start_kernel_thread(std::uint64_t flags, const CloneArgs& args, Thread& child) {
  const SignalsBlocked blocked;
  return core_clone(SYS_clone, static_cast<long>(flags), static_cast<long>(child.start_context - 256), 0,
                    reinterpret_cast<long>(&child.core_tid_word), static_cast<long>(args.tls), &child);
}

}  // namespace

long create_thread(Call& call, const CloneArgs& args) {
  constexpr std::uint64_t kEmulated = CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | CLONE_PIDFD |
                                      CLONE_VFORK | CLONE_PTRACE | CLONE_UNTRACED;
  if (has_failed(call)) return inject(call);
  if (const long error = try_pidfd(args); error != 0) return complete(call, error);
  Thread& child = add_thread(call.me.process);
  give_descriptors(call.me, child, (args.flags & CLONE_FILES) != 0);
  child.signal_mask = call.me.signal_mask;
  inherit_attributes(call.me, child);
  child.pids_of_children = call.me.pids_of_children;
  child.altstack_flags = SS_DISABLE;  // the kernel disables it in new threads
  child.op.kind = OpKind::kStart;
  begin_on_core_stack(call, args, child);
  // The kernel clears core_tid_word when the thread has ended.
  const std::uint64_t flags =
      (args.flags & ~(kEmulated | CLONE_SETTLS)) | CLONE_CHILD_CLEARTID | (args.flags & CLONE_SETTLS);
  child.core_tid_word = 1;
  const long real_tid = start_kernel_thread(flags | args.exit_signal, args, child);
  if (is_error(real_tid)) return creation_failed(call, child, real_tid);
  const long tid = log_child(call, child, real_tid, wire::SpawnKind::kThread, give_pidfd(args, child, real_tid));
  if ((args.flags & CLONE_PARENT_SETTID) != 0) store_tid(args.parent_tid, child.tid);
  if ((args.flags & CLONE_CHILD_SETTID) != 0) store_tid(args.child_tid, child.tid);
  if ((args.flags & CLONE_CHILD_CLEARTID) != 0) child.clear_child_tid = args.child_tid;
  trace_stack(call, args);
  trace_fork(call, child);
  stop_for_child(call, child, args);
  if ((args.flags & CLONE_VFORK) != 0) wait_for_end(call, child.id, tid);
  return tid;
}

// The first C++ code of a new thread, on its core stack.
extern "C" [[noreturn]] void core_thread_main(Thread* thread) {
  set_gs(*thread);
  note_real_ids(*thread);
  prepare_thread(*thread);
  if (parked(*thread).is_copy) continue_in_copy(*thread);
  const std::uint64_t mask = real_mask(thread->signal_mask);
  sys(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, 8);
  wait_for_first_turn();
  auto* context = reinterpret_cast<KernelContext*>(thread->start_context);
  trace_thread_edge(EventKind::kBegin, *thread);
  context->mask = replaying() ? 0 : real_mask(thread->signal_mask);
  await_first_stop();
  begin_traced(*context);
  resume_context(context);
}

}  // namespace reweave::core
