// Namespaces. Those of files, names, networks and users show only in results of calls, which are recorded. A process
// in another PID namespace would have two ids, so that kind is denied, as it is in a container.
#include <linux/sched.h>
#include <sys/syscall.h>

#include "recorder/core/syscalls/fd_table.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

long handle_unshare(Call& call) {
  if ((call.args[0] & CLONE_NEWPID) != 0) return complete(call, -EPERM);
  return recorded_call(call);
}

long handle_setns(Call& call) {
  constexpr long kTypeOfNamespace = 0xb703;  // NS_GET_NSTYPE, ioctl_ns(2)
  if (is_our_fd(call.args[0])) return complete(call, -EBADF);
  if (live() && sys(SYS_ioctl, call.args[0], kTypeOfNamespace) == CLONE_NEWPID) return complete(call, -EPERM);
  return recorded_call(call);
}

}  // namespace reweave::core
