// Threads and processes: creation and end.
//
// Syscall User Dispatch, the GS base and the alternate stack are per thread and not inherited by new threads, so a
// child starts in the core, sets them up, waits for the baton, and only then returns into the program.
#include <asm/prctl.h>
#include <linux/futex.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <sys/syscall.h>

#include "recorder/core/address_space.h"
#include "recorder/core/deadlock.h"
#include "recorder/core/fatal.h"
#include "recorder/core/kernel_signals.h"
#include "recorder/core/process.h"
#include "recorder/core/scheduler.h"
#include "recorder/core/signal_frames.h"
#include "recorder/core/syscalls/fd_table.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/robust.h"
#include "recorder/core/syscalls/table.h"
#include "recorder/core/thread_table.h"
#include "recorder/core/trace_stops.h"
#include "recorder/core/tracing.h"

extern "C" long core_clone(long number, long a, long b, long c, long d, long e, reweave::Thread* child);

namespace reweave::core {

namespace {

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

constexpr std::uint64_t kNamespaces =
    CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

void map_core_stack(const Thread& thread) {
  const std::uint64_t stack = kStacksBase + thread.id * kCoreStackBytes;
  sys(SYS_mmap, stack + kPage, kCoreStackBytes - kPage, 3, 0x4032 /* private anonymous fixed noreserve */, -1, 0);
}

void set_gs(Thread& thread) { sys(SYS_arch_prctl, ARCH_SET_GS, &thread); }

void log_spawn(const Call& call, const Thread& child, wire::SpawnKind kind) {
  if (replaying()) {
    const auto& record = expect<wire::SpawnRecord>(wire::RecordKind::kSpawn, "created a thread or process");
    if (record.child != child.id || record.kind != static_cast<std::uint32_t>(kind))
      diverged("created another thread", &record.header);
    consume_record();
    return;
  }
  RecordWriter record(wire::RecordKind::kSpawn, call.me.id, sizeof(wire::SpawnRecord), 0);
  auto& body = record.body<wire::SpawnRecord>();
  body.child = child.id;
  body.process = child.process;
  body.kind = static_cast<std::uint32_t>(kind);
  body.tid = child.tid;
  record.commit();
}

// The child's id as the target sees it: the kernel's when recording, the recorded one when replaying.
long log_child(Call& call, Thread& child, long real_tid, wire::SpawnKind kind, Output output = {0, 0}) {
  long tid = real_tid;
  if (replaying())
    tid = inject(call);
  else
    log_call(call, tid, &output, output.bytes != 0 ? 1 : 0);
  child.tid = static_cast<std::int32_t>(tid);
  child.real_tid = static_cast<std::int32_t>(real_tid);
  log_spawn(call, child, kind);
  return tid;
}

// Stacks are used again for later threads, without a word to anybody.
void trace_stack(const Call& call, const CloneArgs& args) {
  if (!tracing() || args.stack_bytes == 0) return;
  auto* words = reinterpret_cast<std::uint64_t*>(reserve_out(24));
  words[0] = wire::pack_word0(EventKind::kAlloc, kThreadStack, args.stack_top - args.stack_bytes, true);
  words[1] = wire::pack_word1(call.context.registers.rip, call.me.id);
  words[2] = args.stack_bytes;
  publish_out(24);
}

void trace_fork(const Call& call, const Thread& child) {
  if (!tracing()) return;
  auto* words = reinterpret_cast<std::uint64_t*>(reserve_out(24));
  words[0] = wire::pack_word0(EventKind::kFork, 0, 0, true);
  words[1] = wire::pack_word1(call.context.registers.rip, call.me.id);
  words[2] = child.id;
  publish_out(24);
}

// A creation that fails: the slot that was prepared is given back. No other thread can have seen it.
long creation_failed(Call& call, Thread& child, long error) {
  give_back(child);
  return complete(call, error);
}

// Replaying a recorded failure, there is nothing to create.
bool recorded_failure(const Call& call) {
  if (!replaying()) return false;
  const wire::RecordHeader* header = peek_record();
  if (header == nullptr || header->kind != static_cast<std::uint16_t>(wire::RecordKind::kSyscall)) return false;
  const auto& record = *reinterpret_cast<const wire::SyscallRecord*>(header);
  return record.number == static_cast<std::uint32_t>(call.number) && is_error(record.result);
}

// Its tracer wants to trace what it creates.
bool traces_child(const Call& call, int event) { return wants_event(call.me, event); }

void stop_for_child(Call& call, Thread& child, int event) {
  const Tracee& own = *tracee_of(call.me);
  Tracee* tracee = begin_tracing(child, thread_of(own.tracer), own.seized != 0);
  if (tracee != nullptr) {  // it finds that when it begins
    const std::int32_t info[32] = {SIGSTOP};
    memcpy(tracee->asked_info, info, sizeof info);
    tracee->asked.store(own.seized != 0 ? kAskedInterrupt : kAskedStop);
    tracee->options = own.options;
  }
  stop_at_event(call.context, event, static_cast<std::uint64_t>(child.tid));
}

void inherit_attributes(const Thread& from, Thread& to) {
  to.seccomp = from.seccomp;
  to.tsc_faults = from.tsc_faults;
  to.affinity_bytes = from.affinity_bytes;
  memcpy(to.affinity, from.affinity, sizeof to.affinity);
}

long create_thread(Call& call, const CloneArgs& args) {
  constexpr std::uint64_t kEmulated = CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
  if (recorded_failure(call)) return inject(call);
  Thread& child = add_thread(call.me.process);
  child.signal_mask = call.me.signal_mask;
  inherit_attributes(call.me, child);
  child.op.kind = OpKind::kStart;
  map_core_stack(child);
  KernelContext* context = copy_context(call.context, child);
  context->registers.rax = 0;
  if (args.stack_top != 0) context->registers.rsp = args.stack_top;
  // The kernel clears core_tid_word when the real thread is gone.
  const std::uint64_t flags =
      (args.flags & ~(kEmulated | CLONE_SETTLS)) | CLONE_CHILD_CLEARTID | (args.flags & CLONE_SETTLS);
  child.core_tid_word = 1;
  const long real_tid = core_clone(SYS_clone, static_cast<long>(flags | args.exit_signal),
                                   static_cast<long>(reinterpret_cast<std::uint64_t>(context) - 256), 0,
                                   reinterpret_cast<long>(&child.core_tid_word), static_cast<long>(args.tls), &child);
  if (is_error(real_tid)) return creation_failed(call, child, real_tid);
  const long tid = log_child(call, child, real_tid, wire::SpawnKind::kThread);
  if ((args.flags & CLONE_PARENT_SETTID) != 0) store_tid(args.parent_tid, child.tid);
  if ((args.flags & CLONE_CHILD_SETTID) != 0) store_tid(args.child_tid, child.tid);
  if ((args.flags & CLONE_CHILD_CLEARTID) != 0) child.clear_child_tid = args.child_tid;
  child.start_context = reinterpret_cast<std::uint64_t>(context);
  trace_stack(call, args);
  trace_fork(call, child);
  if (traces_child(call, PTRACE_EVENT_CLONE)) stop_for_child(call, child, PTRACE_EVENT_CLONE);
  return tid;
}

void take_handlers(Process& child, const Process& from, bool clear) {
  memcpy(child.actions, from.actions, sizeof child.actions);
  child.handled_signals = clear ? 0 : from.handled_signals;
  child.ignored_signals = from.ignored_signals;
  if (!clear) return;
  for (SignalAction& action : child.actions)
    if (action.handler > 1) action = {};
}

// In the table once publish_process is called: whoever creates a process may be killed before.
std::uint16_t prepare_process(const Call& call, const CloneArgs& args) {
  RuntimeState& s = state();
  if (s.process_count == kMaxProcesses)
    stop_run(wire::OutcomeKind::kUnsupported, "more than 8192 processes in one run");
  const auto index = static_cast<std::uint16_t>(s.process_count);
  Process& child = s.processes[index];
  const Process& parent = s.processes[call.me.process];
  memcpy(static_cast<void*>(&child), &parent, sizeof child);
  child.index = index;
  child.creator = (args.flags & CLONE_PARENT) != 0 ? parent.creator : call.me.id;
  child.traced_outside = 0;
  child.child_signal.store(0);
  child.stopping.store(0);
  child.moving_baton.store(0);
  child.parent = (args.flags & CLONE_PARENT) != 0 ? parent.parent : call.me.process;
  child.live_threads = 0;
  child.alive = 1;
  child.vfork_parent = 0;
  if ((child.write_xor_execute & kMdweNotInherited) != 0) child.write_xor_execute = 0;
  child.real_pid = 0;
  child.memory_of = (args.flags & CLONE_VM) != 0 ? parent.memory_of : index;
  child.files_of = (args.flags & CLONE_FILES) != 0 ? parent.files_of : index;
  child.handlers_of = (args.flags & CLONE_SIGHAND) != 0 ? parent.handlers_of : index;
  if (child.files_of == index) memcpy(child.fds, s.processes[parent.files_of].fds, sizeof child.fds);
  if (child.handlers_of == index)
    take_handlers(child, s.processes[parent.handlers_of], (args.flags & CLONE_CLEAR_SIGHAND) != 0);
  return index;
}

// Its first thread is there by now: by the thread the supervisor sees that nothing was said of the process yet.
void publish_process() {
  std::atomic_signal_fence(std::memory_order_release);
  state().process_count++;
}

// In the new process: it has a copy of the parent's core, running on a copy of the parent's core stack.
void become_child(Thread& child, const CloneArgs& args) {
  set_gs(child);
  child.real_tid = static_cast<std::int32_t>(sys(SYS_gettid));
  process().real_pid = child.real_tid;
  if ((args.flags & CLONE_SETTLS) != 0) sys(SYS_arch_prctl, ARCH_SET_FS, args.tls);
  map_core_stack(child);
  prepare_thread(child);
  wait_for_first_turn();
  drop_not_inherited();
  Process& here = process();
  here.pid = child.tid;
  here.real_pid = static_cast<std::int32_t>(sys(SYS_getpid));
  await_first_stop();
  if ((args.flags & CLONE_CHILD_SETTID) != 0) store_tid(args.child_tid, child.tid);
  if ((args.flags & CLONE_CHILD_CLEARTID) != 0) child.clear_child_tid = args.child_tid;
}

// What the kernel is asked for. A replay's calls are not made, so it needs no more than the memory.
std::uint64_t kernel_flags(const CloneArgs& args) {
  constexpr std::uint64_t kLive = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_SYSVSEM | CLONE_IO |
                                  CLONE_PARENT | CLONE_SETTLS | kNamespaces;
  constexpr std::uint64_t kAlways = CLONE_VM | CLONE_SIGHAND | CLONE_SETTLS;
  return (args.flags & (replaying() ? kAlways : kLive)) | (replaying() ? SIGCHLD : args.exit_signal);
}

// A process in the same memory starts as a thread does, on its own core stack.
long clone_in_memory(Call& call, const CloneArgs& args, Thread& child) {
  map_core_stack(child);
  KernelContext* context = copy_context(call.context, child);
  context->registers.rax = 0;
  if (args.stack_top != 0) context->registers.rsp = args.stack_top;
  child.start_context = reinterpret_cast<std::uint64_t>(context);
  return core_clone(SYS_clone, static_cast<long>(kernel_flags(args)), static_cast<long>(child.start_context - 256), 0,
                    0, static_cast<long>(args.tls), &child);
}

// A process with memory of its own returns twice.
long clone_apart(const CloneArgs& args) {
  const std::uint64_t flags = kernel_flags(args) & ~std::uint64_t{CLONE_SETTLS};
  if (args.wanted_count == 0 || !live()) return sys(SYS_clone, flags, 0, 0, 0, 0);
  struct clone_args with = {};
  with.flags = flags & ~std::uint64_t{CSIGNAL};
  with.exit_signal = flags & CSIGNAL;
  with.set_tid = args.wanted_ids;
  with.set_tid_size = args.wanted_count;
  return sys(SYS_clone3, &with, sizeof with);
}

// A descriptor of the child, which the parent finds at `address`.
Output give_pidfd(std::uint64_t address, long real_pid) {
  const long fd = sys(SYS_pidfd_open, real_pid, 0);
  forget_fd(fd);
  *reinterpret_cast<std::int32_t*>(address) = static_cast<std::int32_t>(fd);
  return {address, sizeof(std::int32_t)};
}

// The call fails here if the memory cannot be written, before there is anything to undo.
void try_write(std::uint64_t address) {
  auto* word = reinterpret_cast<volatile std::int32_t*>(address);
  const std::int32_t was = *word;
  *word = was;
}

void wait_for_vfork_child(Call& call, std::uint16_t index) {
  if (state().processes[index].vfork_parent != call.me.id + 1u) return;  // gone while its parent stopped
  block({WaitKind::kVfork, std::uint64_t{index} | std::uint64_t{1} << 62, 0});
}

long create_process(Call& call, const CloneArgs& args) {
  if (modelled())
    end_run(wire::OutcomeKind::kLeftRecording, "left the recording: explored runs cannot create processes yet");
  if (recorded_failure(call)) return inject(call);
  if (live() && args.pidfd != 0) try_write(args.pidfd);
  const std::uint16_t index = prepare_process(call, args);
  Thread& child = add_thread(index);
  publish_process();
  child.signal_mask = call.me.signal_mask;
  inherit_attributes(call.me, child);
  const bool in_memory = (args.flags & CLONE_VM) != 0, vfork = (args.flags & CLONE_VFORK) != 0;
  if (!in_memory || vfork) {  // clone(2): the alternate stack is inherited
    child.altstack_base = call.me.altstack_base;
    child.altstack_size = call.me.altstack_size;
    child.altstack_flags = call.me.altstack_flags;
  }
  const long real_pid = in_memory ? clone_in_memory(call, args, child) : clone_apart(args);
  if (real_pid == 0) {
    become_child(child, args);
    if (args.stack_top != 0) call.context.registers.rsp = args.stack_top;
    // The frame we return through was made on the parent's alternate stack; ours is another.
    call.context.stack = core_stack(child);
    return 0;
  }
  if (is_error(real_pid)) {
    state().process_count--;
    return creation_failed(call, child, real_pid);
  }
  Output pidfd = {0, 0};
  if (live() && args.pidfd != 0) pidfd = give_pidfd(args.pidfd, real_pid);
  const long pid = log_child(call, child, real_pid, vfork ? wire::SpawnKind::kVfork : wire::SpawnKind::kProcess, pidfd);
  state().processes[index].pid = static_cast<std::int32_t>(pid);
  state().processes[index].real_pid = static_cast<std::int32_t>(real_pid);
  if ((args.flags & CLONE_PARENT_SETTID) != 0) store_tid(args.parent_tid, child.tid);
  if (in_memory && (args.flags & CLONE_CHILD_SETTID) != 0) store_tid(args.child_tid, child.tid);
  if (in_memory && (args.flags & CLONE_CHILD_CLEARTID) != 0) child.clear_child_tid = args.child_tid;
  trace_fork(call, child);
  const int event = vfork ? PTRACE_EVENT_VFORK : args.exit_signal == SIGCHLD ? PTRACE_EVENT_FORK : PTRACE_EVENT_CLONE;
  if (vfork) state().processes[index].vfork_parent = call.me.id + 1u;
  if (traces_child(call, event)) stop_for_child(call, child, event);
  if (vfork) wait_for_vfork_child(call, index);
  if (vfork) stop_at_event(call.context, PTRACE_EVENT_VFORK_DONE, static_cast<std::uint64_t>(pid));
  return pid;
}

// The combinations that the kernel refuses (clone(2)).
long check_flags(std::uint64_t flags) {
  constexpr std::uint64_t kApart[] = {CLONE_FS | CLONE_NEWNS,       CLONE_FS | CLONE_NEWUSER,
                                      CLONE_THREAD | CLONE_NEWUSER, CLONE_THREAD | CLONE_NEWPID,
                                      CLONE_SYSVSEM | CLONE_NEWIPC, CLONE_SIGHAND | CLONE_CLEAR_SIGHAND,
                                      CLONE_PIDFD | CLONE_DETACHED};
  const auto has = [flags](std::uint64_t all) { return (flags & all) == all; };
  if (has(CLONE_THREAD) && !has(CLONE_SIGHAND)) return -EINVAL;
  if (has(CLONE_SIGHAND) && !has(CLONE_VM)) return -EINVAL;
  for (std::uint64_t pair : kApart)
    if (has(pair)) return -EINVAL;
  // A process in another PID namespace would have two ids; a container denies it too.
  return has(CLONE_NEWPID) ? -EPERM : 0;
}

long create(Call& call, const CloneArgs& args) {
  long error = check_flags(args.flags);
  if (error == 0 && (args.flags & CLONE_SETTLS) != 0 && beyond_user_space(args.tls, 0)) error = -EPERM;
  if (error != 0) return complete(call, error);
  return (args.flags & CLONE_THREAD) != 0 ? create_thread(call, args) : create_process(call, args);
}

}  // namespace

// First C++ code of a new thread, on its core stack.
extern "C" [[noreturn]] void core_thread_main(Thread* thread) {
  set_gs(*thread);
  thread->real_tid = static_cast<std::int32_t>(sys(SYS_gettid));
  process().real_pid = static_cast<std::int32_t>(sys(SYS_getpid));
  prepare_thread(*thread);
  wait_for_first_turn();
  auto* context = reinterpret_cast<KernelContext*>(thread->start_context);
  trace_thread_edge(EventKind::kBegin, *thread);
  context->mask = replaying() ? 0 : real_mask(thread->signal_mask);
  await_first_stop();
  begin_traced(*context);
  resume_context(context);
}

long handle_clone(Call& call) {
  const auto flags = static_cast<std::uint64_t>(call.args[0]);
  if ((flags & (CLONE_PIDFD | CLONE_PARENT_SETTID)) == (CLONE_PIDFD | CLONE_PARENT_SETTID))
    return complete(call, -EINVAL);  // both are given at one address
  // Registers of arguments that the flags do not ask for hold whatever the caller left there.
  if ((flags & (CLONE_PARENT_SETTID | CLONE_PIDFD)) == 0) call.logged[2] = 0;
  if ((flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)) == 0) call.logged[3] = 0;
  if ((flags & CLONE_SETTLS) == 0) call.logged[4] = 0;
  return create(call, {flags & ~std::uint64_t{CSIGNAL}, flags & CSIGNAL, static_cast<std::uint64_t>(call.args[1]), 0,
                       static_cast<std::uint64_t>(call.args[4]), static_cast<std::uint64_t>(call.args[2]),
                       static_cast<std::uint64_t>(call.args[3]),
                       (flags & CLONE_PIDFD) != 0 ? static_cast<std::uint64_t>(call.args[2]) : 0});
}

namespace {

// 0, or the error of clone3 with these arguments, of which the caller gave `bytes` (clone(2)).
long check_clone3(const struct clone_args& given, std::uint64_t address, std::uint64_t bytes) {
  const auto* all = reinterpret_cast<const std::uint8_t*>(address);
  for (std::uint64_t i = sizeof given; i < bytes; i++)
    if (all[i] != 0) return -E2BIG;
  constexpr std::uint64_t kLegacy = CSIGNAL | CLONE_DETACHED;
  if ((given.flags & kLegacy) != 0 || given.flags >> 34 != 0 || given.exit_signal > kSignalCount) return -EINVAL;
  if ((given.flags & (CLONE_THREAD | CLONE_PARENT)) != 0 && given.exit_signal != 0) return -EINVAL;
  if ((given.stack == 0) != (given.stack_size == 0)) return -EINVAL;
  constexpr std::uint64_t kLevels = 32;  // nested PID namespaces
  if ((given.set_tid == 0) != (given.set_tid_size == 0) || given.set_tid_size > kLevels) return -EINVAL;
  const bool in_memory = (given.flags & (CLONE_VM | CLONE_THREAD)) != 0;
  if ((given.set_tid_size != 0 && in_memory) || (given.flags & CLONE_INTO_CGROUP) != 0) return -ENOSYS;
  return 0;
}

}  // namespace

long handle_clone3(Call& call) {
  struct clone_args given = {};
  const auto bytes = static_cast<std::uint64_t>(call.args[1]);
  if (bytes > kPage) return complete(call, -E2BIG);
  if (bytes < CLONE_ARGS_SIZE_VER0) return complete(call, -EINVAL);
  memcpy(&given, reinterpret_cast<void*>(call.args[0]), bytes < sizeof given ? bytes : sizeof given);
  const long error = check_clone3(given, static_cast<std::uint64_t>(call.args[0]), bytes);
  if (error != 0) return complete(call, error);
  return create(call, {given.flags, given.exit_signal, given.stack == 0 ? 0 : given.stack + given.stack_size,
                       given.stack_size, given.tls, given.parent_tid, given.child_tid,
                       (given.flags & CLONE_PIDFD) != 0 ? given.pidfd : 0, given.set_tid, given.set_tid_size});
}

long handle_fork(Call& call) { return create(call, {0, SIGCHLD, 0, 0, 0, 0, 0, 0}); }
long handle_vfork(Call& call) { return create(call, {CLONE_VFORK | CLONE_VM, SIGCHLD, 0, 0, 0, 0, 0, 0}); }

}  // namespace reweave::core
