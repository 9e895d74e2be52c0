// The common parts of creating threads and processes.
#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/log/agree.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/ptrace/trace_stops.h"
#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/schedule/thread_table.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/signal_frames.h"
#include "recorder/core/syscalls/explored_answers.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/tasks/clone.h"

namespace reweave::core {

namespace {

// Stale bytes on the core's stacks must not reach the program. A test fills the stacks differently in a recording and
// its replay, so that any such byte shows as a difference.
void fill_stack(std::uint64_t stack, std::uint64_t bytes) {
  if (config().stack_fill != 0) memset(reinterpret_cast<void*>(stack), static_cast<int>(config().stack_fill), bytes);
}

}  // namespace

void map_core_stack(const Thread& thread) {
  constexpr int kHow = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  constexpr std::uint64_t kBytes = kCoreStackBytes - kPage;
  const std::uint64_t guard = kStacksBase + thread.id * kCoreStackBytes, stack = guard + kPage;
  if (!is_error(sys(SYS_mmap, stack, kBytes, PROT_READ | PROT_WRITE, kHow, -1, 0))) return fill_stack(stack, kBytes);
  // RLIMIT_DATA is the program's and does not count MAP_GROWSDOWN mappings (scratch.cc). The guard keeps this one from
  // growing.
  const long mapped = sys(SYS_mmap, stack, kBytes, PROT_READ | PROT_WRITE, kHow | MAP_GROWSDOWN, -1, 0);
  if (is_error(mapped) || is_error(sys(SYS_mmap, guard, kPage, PROT_NONE, kHow, -1, 0)))
    stop_run(wire::OutcomeKind::kUnsupported,
             "no room for a thread's stack in the core; allow the process more memory");
  fill_stack(stack, kBytes);
}

void begin_on_core_stack(const Call& call, const CloneArgs& args, Thread& child) {
  map_core_stack(child);
  KernelContext* context = copy_context(call.context, child);
  context->registers.rax = 0;
  if (args.stack_top != 0) context->registers.rsp = args.stack_top;
  child.start_context = reinterpret_cast<std::uint64_t>(context);
}

void set_gs(Thread& thread) { sys(SYS_arch_prctl, ARCH_SET_GS, &thread); }

void inherit_attributes(const Thread& from, Thread& to) {
  to.seccomp = from.seccomp;
  to.tsc_faults = from.tsc_faults;
  to.affinity_bytes = from.affinity_bytes;
  memcpy(to.affinity, from.affinity, sizeof to.affinity);
}

long creation_failed(Call& call, Thread& child, long error) {
  give_back(child);
  return complete(call, error);
}

namespace {

void log_spawn(Thread& child, wire::SpawnKind kind) {
  agree<wire::SpawnRecord>(
      wire::RecordKind::kSpawn, "created a thread or process",
      [&child, kind](wire::SpawnRecord& record) {
        record.child = child.id;
        record.process = child.process;
        record.kind = static_cast<std::uint32_t>(kind);
        record.tid = child.outer_tid;
        record.inner_tid = pid_namespace_of(child) != 0 ? child.tid : 0;
      },
      [&child, kind](const wire::SpawnRecord& record) -> const char* {
        const bool same = record.child == child.id && record.kind == static_cast<std::uint32_t>(kind);
        if (!same) return "created another thread";
        trace_spawn(record);
        child.outer_tid = record.tid;
        child.tid = record.inner_tid != 0 ? record.inner_tid : record.tid;
        return nullptr;
      });
}

// Recording: sets the child's IDs. In a PID namespace of the program, only the child itself can find out its ID. False:
// the child was killed before it did.
bool learn_ids(Thread& child, long real_tid) {
  bool lives = true;
  if (pid_namespace_of(child) == 0)
    child.tid = child.real_tid = static_cast<std::int32_t>(real_tid);
  else
    lives = await_ids(child, real_tid);
  child.outer_tid = child.real_tid;
  return lives;
}

// Explored run: the ID that the program sees does not depend on the kernel.
void give_number(const Thread& creator, Thread& child, long real_tid) {
  child.real_tid = static_cast<std::int32_t>(real_tid);
  child.tid = child.outer_tid = explored.number_of_new(creator, child);
}

}  // namespace

long log_child(Call& call, Thread& child, long real_tid, wire::SpawnKind kind, Output output) {
  if (replaying()) {
    child.real_tid = static_cast<std::int32_t>(real_tid);
    const long seen = inject(call);
    log_spawn(child, kind);
    return seen;
  }
  bool lives = true;
  if (live())
    lives = learn_ids(child, real_tid);
  else
    give_number(call.me, child, real_tid), real_tid = child.tid;
  log_call(call, real_tid, &output, output.bytes != 0 ? 1 : 0);
  log_spawn(child, kind);
  if (!lives) {
    forget_process(child.process, SIGKILL);
    log_death(state().processes[child.process], SIGKILL);
  }
  return real_tid;
}

void trace_spawn(const wire::SpawnRecord& record) {
  if (!tracing()) return;
  memcpy(reserve_out(sizeof record), &record, sizeof record);
  publish_out(sizeof record);
}

void trace_fork(const Call& call, const Thread& child) {
  if (!tracing()) return;
  auto* words = reinterpret_cast<std::uint64_t*>(reserve_out(24));
  words[0] = wire::pack_word0(EventKind::kFork, 0, 0, true);
  words[1] = wire::pack_word1(call.context.registers.rip, call.me.id);
  words[2] = child.id;
  publish_out(24);
}

namespace {

int event_of(const CloneArgs& args) {
  if ((args.flags & CLONE_VFORK) != 0) return PTRACE_EVENT_VFORK;
  return args.exit_signal == SIGCHLD ? PTRACE_EVENT_FORK : PTRACE_EVENT_CLONE;
}

// Opens a pidfd of the process or of the thread.
long open_pidfd(const CloneArgs& args, long real_tid) {
  constexpr int kOfThread = O_EXCL;  // PIDFD_THREAD
  return sys(SYS_pidfd_open, real_tid, (args.flags & CLONE_THREAD) != 0 ? kOfThread : 0);
}

}  // namespace

Output give_pidfd(const CloneArgs& args, const Thread& child, long real_tid) {
  if (replaying() || args.pidfd == 0) return {0, 0};
  const long fd = live() ? open_pidfd(args, real_tid) : explored.open_process(child);
  forget_fd(fd);
  *reinterpret_cast<std::int32_t*>(args.pidfd) = static_cast<std::int32_t>(fd);
  return {args.pidfd, sizeof(std::int32_t)};
}

long try_pidfd(const CloneArgs& args) {
  if (!live() || (args.flags & CLONE_PIDFD) == 0) return 0;
  const bool of_thread = (args.flags & CLONE_THREAD) != 0;
  const long fd = open_pidfd(args, sys(of_thread ? SYS_gettid : SYS_getpid));
  if (is_error(fd)) return fd;
  sys(SYS_close, fd);
  auto* word = reinterpret_cast<volatile std::int32_t*>(args.pidfd);
  const std::int32_t was = *word;
  *word = was;
  return 0;
}

SignalsBlocked::SignalsBlocked() {
  constexpr std::uint64_t kSent = ~kNeverBlocked | signal_bit(kWatchdogSignal);
  sys(SYS_rt_sigprocmask, SIG_SETMASK, &kSent, &before_, 8);
}

SignalsBlocked::~SignalsBlocked() { sys(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, 8); }

void stop_for_child(Call& call, Thread& child, const CloneArgs& args) {
  const int event = event_of(args);
  const bool wanted = (args.flags & CLONE_UNTRACED) == 0 && wants_event(call.me, event);
  if (call.me.tracee == 0 || (!wanted && (args.flags & CLONE_PTRACE) == 0)) return;
  const Tracee& own = *tracee_of(call.me);
  Tracee* tracee = begin_tracing(child, thread_of(own.tracer), own.seized != 0);
  if (tracee != nullptr) {  // the child finds this request when it starts
    const std::int32_t info[32] = {SIGSTOP};
    memcpy(tracee->asked_info, info, sizeof info);
    tracee->asked.store(own.seized != 0 ? kAskedInterrupt : kAskedStop);
    tracee->options = own.options;
    tracee->call = call.number;  // it is still in that call, with the result 0
  }
  if (wanted) stop_at_event(call.context, event, static_cast<std::uint64_t>(child.tid));
}

}  // namespace reweave::core
