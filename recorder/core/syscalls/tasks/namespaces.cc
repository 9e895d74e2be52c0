// Namespaces. Mount, UTS, network and user namespaces are visible only in the results of calls, which are recorded. PID
// namespaces are followed (pid_namespaces.h).
#include <linux/sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "recorder/core/schedule/pid_namespaces.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/files/fd_sharing.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

long handle_unshare(Call& call) {
  constexpr long kNewTime = 0x80;  // CLONE_NEWTIME
  constexpr long kKnown = CLONE_THREAD | CLONE_FS | CLONE_SIGHAND | CLONE_VM | CLONE_FILES | CLONE_SYSVSEM |
                          CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWUSER | CLONE_NEWPID |
                          CLONE_NEWCGROUP | kNewTime;
  if ((call.args[0] & ~kKnown) != 0) return recorded_call(call);  // EINVAL
  const bool new_ids = (call.args[0] & CLONE_NEWPID) != 0;
  if (new_ids && pid_namespace_of(call.me) != 0) return complete(call, -EPERM);  // only one level of them is followed
  const long result = recorded_call(call);
  if (result == 0 && new_ids) call.me.pids_of_children = kNewPidNamespace;
  if (result == 0 && (call.args[0] & CLONE_FILES) != 0) unshare_descriptors();
  if (result == 0 && (call.args[0] & CLONE_NEWNS) != 0) state().roots_differ = 1;
  return result;
}

namespace {

bool leads_to_other_pids(long fd) {
  constexpr long kTypeOfNamespace = 0xb703;  // NS_GET_NSTYPE, ioctl_ns(2)
  if (sys(SYS_ioctl, fd, kTypeOfNamespace) != CLONE_NEWPID) return false;
  struct stat wanted = {}, own = {};
  const bool known =
      !is_error(sys(SYS_fstat, fd, &wanted)) && !is_error(sys(SYS_newfstatat, kProcFd, "self/ns/pid", &own, 0));
  return !known || wanted.st_ino != own.st_ino;
}

}  // namespace

long handle_setns(Call& call) {
  if (is_our_fd(call.args[0])) return complete(call, -EBADF);
  if (live() && leads_to_other_pids(call.args[0])) return complete(call, -EPERM);
  return handle_new_root(call);
}

long handle_new_root(Call& call) {
  const long result = recorded_call(call);
  if (result == 0) state().roots_differ = 1;
  return result;
}

}  // namespace reweave::core
