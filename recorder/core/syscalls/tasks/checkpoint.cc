#include "recorder/core/syscalls/tasks/checkpoint.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/schedule/choice.h"
#include "recorder/core/schedule/departure.h"
#include "recorder/core/schedule/roll_call.h"
#include "recorder/core/syscalls/tasks/clone.h"
#include "recorder/live_threads.h"

#pragma GCC visibility push(hidden)
extern "C" [[noreturn]] void core_call_on(std::uint64_t stack_top, void (*function)());
#pragma GCC visibility pop

namespace reweave::core {

namespace {

// Returns the reason why a waiting thread cannot be copied; null if it can.
const char* obstacle_of(const Thread& thread, CopyGoesOn how) {
  if (thread.process != self().process) return "several processes live";
  if (thread.tracee != 0) return "a thread is traced (ptrace)";
  const ThreadState now = thread.state.load();
  if (now == ThreadState::kBlocked && is_uninterruptible(thread.wait.kind)) return "a thread waits for a child process";
  if (how == CopyGoesOn::kExplored && now == ThreadState::kInKernel && !departure_of(thread).awaits_answer)
    return "a thread is in a system call that is carried out in parts";
  return nullptr;
}

void make_thread(Thread& thread) {
  constexpr std::uint64_t kBelow = 256;  // bytes below that stack pointer with what the thread saved
  constexpr std::uint64_t kFlags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                                   CLONE_SETTLS | CLONE_CHILD_CLEARTID;
  const ParkedThread& from = parked(thread);
  parked(thread).is_copy = true;
  thread.core_tid_word = 1;
  const long tid = core_clone(SYS_clone, static_cast<long>(kFlags), static_cast<long>(from.stack - kBelow), 0,
                              reinterpret_cast<long>(&thread.core_tid_word), static_cast<long>(from.fs_base), &thread);
  if (is_error(tid)) stop_run(wire::OutcomeKind::kUnsupported, "no room for the threads of a copied process");
  thread.real_tid = static_cast<std::int32_t>(tid);
}

bool is_copy;  // true in a copy and in processes forked from it

[[noreturn]] void sleep_for_ever() {
  for (;;) sys(SYS_pause);
}

}  // namespace

const char* prepare_checkpoint(CopyGoesOn how) {
  const RuntimeState& s = state();
  if (s.tracing_began != 0) return "the program traces threads (ptrace)";
  for (const Thread& thread : live_threads(s)) {
    if (thread.id == self().id) continue;
    if (const char* obstacle = obstacle_of(thread, how); obstacle != nullptr) return obstacle;
  }
  return call_roll();
}

void make_threads_of_copy() {
  is_copy = true;
  const Thread& me = self();
  for (Thread& thread : live_threads(state())) {
    note_awake(thread.id);
    if (thread.id != me.id) make_thread(thread);
  }
}

void end_kernel_thread(long status) {
  // The thread's core stack may become another thread's.
  alignas(16) static std::byte stack[512];
  if (is_copy && sys(SYS_gettid) == sys(SYS_getpid)) {
    const std::uint64_t all = ~std::uint64_t{0};
    sys(SYS_rt_sigprocmask, SIG_SETMASK, &all, nullptr, 8);
    core_call_on(reinterpret_cast<std::uint64_t>(stack + sizeof stack), sleep_for_ever);
  }
  sys(SYS_exit, status);
  __builtin_unreachable();
}

}  // namespace reweave::core
