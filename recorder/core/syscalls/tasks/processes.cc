// New processes.
#include <asm/prctl.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <sys/syscall.h>

#include "recorder/alive_processes.h"
#include "recorder/core/base/fatal.h"
#include "recorder/core/base/real_actions.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/ptrace/trace_stops.h"
#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/schedule/deadlock.h"
#include "recorder/core/schedule/hooks.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/schedule/thread_table.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/signal_frames.h"
#include "recorder/core/syscalls/explored_answers.h"
#include "recorder/core/syscalls/files/fd_sharing.h"
#include "recorder/core/syscalls/seccomp/seccomp_listener.h"
#include "recorder/core/syscalls/table.h"
#include "recorder/core/syscalls/tasks/clone.h"

extern "C" void core_note_vforked();  // entry.S

namespace reweave::core {

namespace {

constexpr std::uint64_t kNamespaces =
    CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP | CLONE_NEWPID;

void take_handlers(Process& child, const Process& from, bool clear) {
  memcpy(child.actions, from.actions, sizeof child.actions);
  child.handled_signals = clear ? 0 : from.handled_signals;
  child.ignored_signals = from.ignored_signals;
  if (!clear) return;
  for (SignalAction& action : child.actions)
    if (action.handler > 1) action = {};
}

bool starts_namespace(const Thread& creator, const CloneArgs& args) {
  return (args.flags & CLONE_NEWPID) != 0 || creator.pids_of_children == kNewPidNamespace;
}

std::uint16_t namespace_of_child(const Thread& creator, const CloneArgs& args, std::uint16_t index) {
  return starts_namespace(creator, args) ? index : creator.pids_of_children;
}

// 0, or the error of creating a process in another PID namespace: only one level is followed, and no tracer sees into
// it.
long check_namespace(const Thread& creator, const CloneArgs& args) {
  const std::uint16_t own = pid_namespace_of(creator);
  if (!starts_namespace(creator, args) && creator.pids_of_children == own) return 0;
  return own != 0 || creator.tracee != 0 ? -EPERM : 0;
}

// Fills the next slot of the process table. publish_process adds the slot to the table later, because the creator may
// be killed before.
std::uint16_t prepare_process(const Call& call, const CloneArgs& args) {
  RuntimeState& s = state();
  if (s.process_count == kMaxProcesses)
    stop_run(wire::OutcomeKind::kUnsupported, "more than 32000 processes in one run");
  const auto index = static_cast<std::uint16_t>(s.process_count);
  Process& child = s.processes[index];
  const Process& parent = s.processes[call.me.process];
  memcpy(static_cast<void*>(&child), &parent, sizeof child);
  child.index = index;
  child.creator = (args.flags & CLONE_PARENT) != 0 ? parent.creator : call.me.id;
  child.traced_outside = 0;
  child.child_signal.store(0);
  child.stopping.store(0);
  child.group_stop.store(0);
  child.moving_baton.store(0);
  child.parent = (args.flags & CLONE_PARENT) != 0 ? parent.parent : call.me.process;
  child.exit_signal = static_cast<std::uint8_t>(args.exit_signal);
  child.live_threads = child.first_thread = child.last_thread = 0;
  child.memory_users = 0;
  child.vfork_parent = 0;
  if ((child.write_xor_execute & kMdweNotInherited) != 0) child.write_xor_execute = 0;
  child.real_pid = 0;
  child.pid_namespace = namespace_of_child(call.me, args, index);
  child.memory_of = (args.flags & CLONE_VM) != 0 ? parent.memory_of : index;
  child.handlers_of = (args.flags & CLONE_SIGHAND) != 0 ? parent.handlers_of : index;
  if (child.handlers_of == index)
    take_handlers(child, s.processes[parent.handlers_of], (args.flags & CLONE_CLEAR_SIGHAND) != 0);
  return index;
}

// The process's first thread exists by now. If the creator dies here, the supervisor sees from that thread that the
// process was not reported yet.
void publish_process() {
  std::atomic_signal_fence(std::memory_order_release);
  mark_alive(state(), state().process_count++);
}

// In the new process, whose GS base is set and which has a copy of the parent's core and runs on a copy of the parent's
// core stack.
void become_child(Thread& child, const CloneArgs& args) {
  note_real_ids(child);
  if ((args.flags & CLONE_SETTLS) != 0) sys(SYS_arch_prctl, ARCH_SET_FS, args.tls);
  map_core_stack(child);
  prepare_thread(child);
  follow_tracing();  // a tracer may have kicked the process before it knew itself
  wait_for_first_turn();
  schedule_hooks.process_begun();
  drop_not_inherited();
  Process& here = process();
  here.pid = child.tid;
  here.outer_pid = child.outer_tid;
  await_first_stop();
  silence_bells();
  if ((args.flags & CLONE_CHILD_SETTID) != 0) store_tid(args.child_tid, child.tid);
  if ((args.flags & CLONE_CHILD_CLEARTID) != 0) child.clear_child_tid = args.child_tid;
}

// The flags passed to the kernel. If system calls are not really made, only the memory matters.
std::uint64_t kernel_flags(const CloneArgs& args) {
  constexpr std::uint64_t kLive = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_SYSVSEM | CLONE_IO |
                                  CLONE_PARENT | CLONE_SETTLS | kNamespaces;
  constexpr std::uint64_t kAlways = CLONE_VM | CLONE_SIGHAND | CLONE_SETTLS;
  return live() ? (args.flags & kLive) | args.exit_signal : (args.flags & kAlways) | SIGCHLD;
}

// A process in the same memory starts like a thread, on its own core stack.
long clone_in_memory(Call& call, const CloneArgs& args, Thread& child) {
  begin_on_core_stack(call, args, child);
  return core_clone(SYS_clone, static_cast<long>(kernel_flags(args)), static_cast<long>(child.start_context - 256), 0,
                    0, static_cast<long>(args.tls), &child);
}

// Creates a process with memory of its own. Returns in both processes.
long clone_apart(const CloneArgs& args) {
  const std::uint64_t flags = kernel_flags(args) & ~std::uint64_t{CLONE_SETTLS};
  const std::uint64_t by_clone3_alone = args.flags & CLONE_NEWTIME;
  if ((args.wanted_count == 0 && by_clone3_alone == 0) || !live()) return sys(SYS_clone, flags, 0, 0, 0, 0);
  struct clone_args with = {};
  with.flags = (flags & ~std::uint64_t{CSIGNAL}) | by_clone3_alone;
  with.exit_signal = flags & CSIGNAL;
  with.set_tid = args.wanted_ids;
  with.set_tid_size = args.wanted_count;
  return sys(SYS_clone3, &with, sizeof with);
}

// The destructor of `blocked` also runs in a child with memory of its own, but only once the child knows itself.
long start_kernel_process(Call& call, const CloneArgs& args, Thread& child) {
  const SignalsBlocked blocked;
  if ((args.flags & CLONE_VM) != 0) return clone_in_memory(call, args, child);
  const long real_pid = clone_apart(args);
  if (real_pid == 0) set_gs(child);
  return real_pid;
}

void wait_for_vfork_child(Call& call, std::uint16_t index) {
  if (state().processes[index].vfork_parent != call.me.id + 1u) return;  // ended while its parent was stopped
  block({WaitKind::kVfork, vfork_key(state().processes[index]), 0});
}

}  // namespace

long create_process(Call& call, const CloneArgs& args) {
  const long refused = modelled() ? explored.begin_process(call, args.flags, args.pidfd) : 0;
  if (refused != 0) return complete(call, refused);
  if (has_failed(call)) return inject(call);
  if (const long error = check_namespace(call.me, args); error != 0) return complete(call, error);
  if (const long error = try_pidfd(args); error != 0) return complete(call, error);
  const std::uint16_t index = prepare_process(call, args);
  Thread& child = add_thread(index);
  publish_process();
  give_descriptors(call.me, child, (args.flags & CLONE_FILES) != 0);
  child.signal_mask = call.me.signal_mask;
  inherit_attributes(call.me, child);
  child.pids_of_children = pid_namespace_of(child);
  const bool in_memory = (args.flags & CLONE_VM) != 0, vfork = (args.flags & CLONE_VFORK) != 0;
  if (!in_memory || vfork) {  // clone(2): the alternate stack is inherited
    child.altstack_base = call.me.altstack_base;
    child.altstack_size = call.me.altstack_size;
    child.altstack_flags = call.me.altstack_flags;
  } else {
    child.altstack_flags = SS_DISABLE;
  }
  // Unless live, waits are answered without the kernel, which would otherwise keep a zombie of each process.
  if (!live()) set_real_action(SIGCHLD, kIgnored, 0);
  const long real_pid = start_kernel_process(call, args, child);
  if (real_pid == 0) {
    become_child(child, args);
    if (args.stack_top != 0) call.context.registers.rsp = args.stack_top;
    // The frame to return through was made on the parent's alternate stack; the child has its own.
    call.context.stack = core_stack(child);
    return 0;
  }
  if (is_error(real_pid)) {
    mark_ended(state(), --state().process_count);
    return creation_failed(call, child, real_pid);
  }
  const Output pidfd = give_pidfd(args, child, real_pid);
  const long pid = log_child(call, child, real_pid, vfork ? wire::SpawnKind::kVfork : wire::SpawnKind::kProcess, pidfd);
  state().processes[index].pid = child.tid;
  state().processes[index].outer_pid = child.outer_tid;
  state().processes[index].real_pid = child.real_tid;
  if ((args.flags & CLONE_NEWPID) == 0 && call.me.pids_of_children == kNewPidNamespace)
    call.me.pids_of_children = index;
  if ((args.flags & CLONE_PARENT_SETTID) != 0) store_tid(args.parent_tid, static_cast<std::int32_t>(pid));
  if (in_memory && (args.flags & CLONE_CHILD_SETTID) != 0) store_tid(args.child_tid, child.tid);
  if (in_memory && (args.flags & CLONE_CHILD_CLEARTID) != 0) child.clear_child_tid = args.child_tid;
  if ((args.flags & CLONE_NEWNS) != 0) state().roots_differ = 1;
  trace_fork(call, child);
  if (vfork) state().processes[index].vfork_parent = call.me.id + 1u;
  stop_for_child(call, child, args);
  if (vfork) wait_for_vfork_child(call, index);
  if (vfork) core_note_vforked();
  if (vfork) stop_at_event(call.context, PTRACE_EVENT_VFORK_DONE, static_cast<std::uint64_t>(pid));
  return pid;
}

}  // namespace reweave::core
