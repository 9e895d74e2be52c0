#include "recorder/core/schedule/pid_namespaces.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/base/words.h"
#include "recorder/core/schedule/process.h"

namespace reweave::core {

namespace {

constexpr long kNobody = 0x7fffffff;  // larger than any ID (proc(5), pid_max)

struct OuterIds {
  long pid, tid;  // 0: unknown
};

// The target of /proc/thread-self, in the /proc open as `folder` or in the mounted one: "PID/task/TID".
OuterIds ids_in(long folder, const char* name) {
  char link[64];
  const long n = sys(SYS_readlinkat, folder, name, link, sizeof link - 1);
  if (is_error(n)) return {0, 0};
  link[n] = 0;
  Words words = {link};
  const long pid = words.number();
  if (!words.take("/task/")) return {0, 0};
  return {pid, words.number()};
}

std::atomic_ref<std::int32_t> noted_tid(Thread& thread) { return std::atomic_ref(thread.real_tid); }

// True if `child` was killed. tgkill checks a thread of this process. The first thread of a new process ends only with
// that process, so waitid checks the process.
bool was_killed(const Thread& child, long id) {
  if (child.process == self().process) return sys(SYS_tgkill, sys(SYS_getpid), id, 0) == -ESRCH;
  std::int32_t info[32] = {};
  const long waited = sys(SYS_waitid, P_PID, id, info, WEXITED | WNOHANG | WNOWAIT | __WALL, nullptr);
  return is_error(waited) || info[0] != 0;
}

}  // namespace

long id_seen_from(std::uint16_t pid_namespace, const Thread& thread) {
  if (pid_namespace_of(thread) == pid_namespace) return thread.tid;
  return pid_namespace == 0 ? thread.outer_tid : 0;
}

long id_seen_from(std::uint16_t pid_namespace, const Process& process) {
  if (process.pid_namespace == pid_namespace) return process.pid;
  return pid_namespace == 0 ? process.outer_pid : 0;
}

namespace {

template <typename Of>
long id_or_nobody(std::uint16_t pid_namespace, const Of& of) {
  const long id = id_seen_from(pid_namespace, of);
  return id == 0 ? kNobody : id;
}

}  // namespace

long kernel_id(const Thread& thread) {
  return live() ? id_or_nobody(process().pid_namespace, thread) : thread.real_tid;
}

long kernel_id(const Process& of) { return live() ? id_or_nobody(process().pid_namespace, of) : of.real_pid; }

std::uint16_t namespace_of_proc() {
  const std::uint16_t own = process().pid_namespace;
  if (own == 0 || !live()) return own;
  return ids_in(AT_FDCWD, "/proc/thread-self").tid == self().real_tid ? 0 : own;
}

long id_from_outside(long id) {
  const std::uint16_t own = process().pid_namespace;
  if (own == 0) return id;
  const Thread* thread = thread_by_tid(id, 0);
  return thread != nullptr && pid_namespace_of(*thread) == own ? thread->tid : -1;
}

void note_real_ids(Thread& me) {
  Process& here = state().processes[me.process];
  const long tid = sys(SYS_gettid), pid = sys(SYS_getpid);
  if (!live() || here.pid_namespace == 0) {
    me.real_tid = static_cast<std::int32_t>(tid);
    here.real_pid = static_cast<std::int32_t>(pid);
    return;
  }
  const OuterIds outer = ids_in(kProcFd, "thread-self");
  if (outer.tid == 0)
    stop_run(wire::OutcomeKind::kUnsupported,
             "cannot read from /proc/thread-self the ID that a process in a PID namespace has outside it");
  me.tid = static_cast<std::int32_t>(tid);
  here.real_pid = static_cast<std::int32_t>(outer.pid);
  noted_tid(me).store(static_cast<std::int32_t>(outer.tid));
  sys(SYS_futex, &me.real_tid, FUTEX_WAKE, 1);
}

bool await_ids(Thread& child, long id) {
  const long while_nothing[2] = {0, 10'000'000};
  while (noted_tid(child).load() == 0) {
    if (sys(SYS_futex, &child.real_tid, FUTEX_WAIT, 0, while_nothing) == -ETIMEDOUT && was_killed(child, id))
      return noted_tid(child).load() != 0;
  }
  return true;
}

}  // namespace reweave::core
