// wait4 and waitid while any thread of the tree traces. A call may end because a tracee stops, which only the core
// knows, or because of an event in the kernel, whichever comes first. So the kernel is asked without waiting, and while
// the thread sleeps in the kernel, tracees that stop kick it. If no thread ever traced, these are ordinary recorded
// calls.
#include <sys/syscall.h>
#include <sys/wait.h>

#include "recorder/core/ptrace/tracing.h"
#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr long kNoThread = __WNOTHREAD;
constexpr std::uint64_t kInfoBytes = 128, kUsageBytes = 144;
constexpr std::int32_t kStoppedStatus = 0x7f;

// The children that a call waits for, in the form of waitid.
struct Wanted {
  long type, id, options;
};

// True for waitid, false for wait4.
bool is_waitid(const Call& call) { return call.row->at.info >= 0; }

Wanted wanted_of(const Call& call) {
  if (is_waitid(call)) return {call.args[0], call.args[1], call.args[3]};
  const long pid = static_cast<std::int32_t>(call.args[0]);
  const long options = call.args[2] | WEXITED;
  if (pid == -1) return {P_ALL, 0, options};
  return pid > 0 ? Wanted{P_PID, pid, options} : Wanted{P_PGID, -pid, options};
}

// True if the kernel accepts the options (wait(2)).
bool is_valid(const Call& call, const Wanted& wanted) {
  constexpr long kKinds = WEXITED | WSTOPPED | WCONTINUED;
  constexpr long kAlways = WNOHANG | WSTOPPED | WCONTINUED | __WALL | __WCLONE | kNoThread;
  const long options = static_cast<std::uint32_t>(wanted.options);
  if (!is_waitid(call)) return (call.args[2] & ~kAlways & 0xffffffff) == 0;
  return (options & ~(kAlways | WEXITED | WNOWAIT)) == 0 && (options & kKinds) != 0;
}

// The answer to a call.
struct Answer {
  bool some;
  long result;
  std::int32_t status;
  std::int32_t info[32];
  std::uint8_t usage[kUsageBytes];
};

bool is_wanted(const Tracee& tracee, const Wanted& wanted, const Thread& me) {
  if (tracee.in_use != kTraced || tracee.tracer_process != me.process) return false;
  if ((wanted.options & kNoThread) != 0 && tracee.tracer != me.id) return false;
  const Process& target = state().processes[tracee.process];
  if (wanted.type == P_PID) return tracee.tid == wanted.id;
  if (wanted.type == P_PIDFD) return tracee.tid == pid_of_pidfd(wanted.id);
  if (wanted.type != P_PGID) return true;
  return sys(SYS_getpgid, kernel_id(target)) == (wanted.id == 0 ? sys(SYS_getpgid, 0) : wanted.id);
}

bool has_news(const Tracee& tracee, const Wanted& wanted) {
  if (tracee.reported != 0) return false;
  if (tracee.dead != 0) return (wanted.options & WEXITED) != 0;
  return tracee.stop != StopKind::kNone && tracee.listening == 0;
}

void describe(Answer& answer, const Tracee& tracee) {
  const std::int32_t end = tracee.wait_status;
  const bool killed = WIFSIGNALED(end);
  const auto code = static_cast<std::int32_t>(tracee.code);
  answer.status = tracee.dead != 0 ? end : code << 8 | kStoppedStatus;
  const std::int32_t why = tracee.dead == 0 ? CLD_TRAPPED
                           : !killed        ? CLD_EXITED
                           : WCOREDUMP(end) ? CLD_DUMPED
                                            : CLD_KILLED;
  const std::int32_t what = tracee.dead == 0 ? code : killed ? WTERMSIG(end) : WEXITSTATUS(end);
  const std::int32_t info[7] = {SIGCHLD, 0, why, 0, tracee.tid, static_cast<std::int32_t>(sys(SYS_getuid)), what};
  memcpy(answer.info, info, sizeof info);
}

Answer ask_tracees(const Call& call, const Wanted& wanted) {
  Answer answer = {};
  for (Tracee& tracee : state().tracees) {
    if (!is_wanted(tracee, wanted, call.me) || !has_news(tracee, wanted)) continue;
    describe(answer, tracee);
    answer.some = true;
    answer.result = is_waitid(call) ? 0 : tracee.tid;
    if ((wanted.options & WNOWAIT) != 0) return answer;
    tracee.reported = 1;
    if (tracee.dead != 0) tracee.in_use = 0;
    return answer;
  }
  return answer;
}

// Asks without waiting. If the answer has `some` false, there are children to wait for.
Answer ask_kernel(const Call& call) {
  Answer answer = {};
  if (is_waitid(call)) {
    answer.result = sys(SYS_waitid, call.args[0], call.args[1], answer.info, call.args[3] | WNOHANG, answer.usage);
    answer.some = answer.result != 0 || answer.info[4] != 0;
  } else {
    answer.result = sys(SYS_wait4, call.args[0], &answer.status, call.args[2] | WNOHANG, answer.usage);
    answer.some = answer.result != 0;
  }
  return answer;
}

bool has_tracees(const Call& call, const Wanted& wanted) {
  for (const Tracee& tracee : state().tracees)
    if (is_wanted(tracee, wanted, call.me)) return true;
  return false;
}

// True if a wanted tracee has news, or if none is left. Runs without the baton, so the caller checks again with the
// baton.
bool somebody_changed(const Call& call, const Wanted& wanted) {
  for (const Tracee& tracee : state().tracees) {
    if (!is_wanted(tracee, wanted, call.me)) continue;
    if (has_news(tracee, wanted)) return true;
  }
  return !has_tracees(call, wanted);
}

// Sleeps until there may be news. `children`: the kernel has children to wait for.
long sleep(const Call& call, const Wanted& wanted, bool children) {
  if (children) {
    std::int32_t info[32];
    const long kinds = wanted.options & (WEXITED | WSTOPPED | WCONTINUED | __WALL | __WCLONE | kNoThread);
    const long args[6] = {wanted.type, wanted.id, reinterpret_cast<long>(info), kinds | WNOWAIT};
    return core_blocking_syscall(SYS_waitid, args, interruptions_of(call.me));
  }
  constexpr long kLookEveryMs = 20;  // a tracee killed from outside the tree kicks no one
  const long args[6] = {0, 0, kLookEveryMs};
  long result = 0;
  do {
    result = core_blocking_syscall(SYS_poll, args, interruptions_of(call.me));
  } while (result == 0 && !somebody_changed(call, wanted));
  return result;
}

void add_output(Output* outputs, std::uint32_t& count, long to, const void* from, std::uint64_t bytes) {
  if (to == 0) return;
  memcpy(reinterpret_cast<void*>(to), from, bytes);
  outputs[count++] = {static_cast<std::uint64_t>(to), bytes};
}

long finish(Call& call, const Answer& answer) {
  Output outputs[2];
  std::uint32_t count = 0;
  const bool waitid = is_waitid(call);
  if (waitid ? answer.result == 0 : answer.result > 0) {
    if (waitid)
      add_output(outputs, count, call.args[2], answer.info, kInfoBytes);
    else
      add_output(outputs, count, call.args[1], &answer.status, sizeof answer.status);
    const bool somebody = !waitid || answer.info[4] != 0;
    if (somebody) add_output(outputs, count, call.args[waitid ? 4 : 3], answer.usage, kUsageBytes);
  }
  log_call(call, answer.result, outputs, count);
  return answer.result;
}

}  // namespace

long handle_wait(Call& call) {
  if (!live() || state().tracing_began == 0) return recorded_call(call);
  const Wanted wanted = wanted_of(call);
  if (!is_valid(call, wanted)) return recorded_call(call);
  Thread& me = call.me;
  for (;;) {
    me.kicked.store(0);
    Answer answer = ask_tracees(call, wanted);
    if (answer.some) return finish(call, answer);
    answer = ask_kernel(call);
    const bool childless = answer.result == -ECHILD && has_tracees(call, wanted);
    if (answer.some && !childless) return finish(call, answer);
    answer.result = 0;
    if ((wanted.options & WNOHANG) != 0) return finish(call, answer);
    call.flags |= wire::kLeftBaton;
    leave_baton();
    const long slept = sleep(call, wanted, !childless);
    return_from_kernel();
    if (!is_error(slept) || me.queued.load() == 0) continue;
    answer.result = slept;
    return finish(call, answer);
  }
}

}  // namespace reweave::core
