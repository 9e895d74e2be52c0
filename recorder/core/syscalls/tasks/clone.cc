// Requests of a program by clone, clone3, fork and vfork, and the kernel's checks of them (clone(2)).
#include "recorder/core/syscalls/tasks/clone.h"

#include <linux/sched.h>
#include <sys/syscall.h>

#include "recorder/core/memory/address_space.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/handlers.h"

namespace reweave::core {

namespace {

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
  return 0;
}

long create(Call& call, const CloneArgs& args) {
  long error = check_flags(args.flags);
  const bool both = (args.flags & CLONE_PIDFD) != 0 && (args.flags & CLONE_PARENT_SETTID) != 0;
  if (both && args.pidfd == args.parent_tid) error = -EINVAL;
  if (error == 0 && (args.flags & CLONE_SETTLS) != 0 && beyond_user_space(args.tls, 0)) error = -EPERM;
  if (error != 0) return complete(call, error);
  return (args.flags & CLONE_THREAD) != 0 ? create_thread(call, args) : create_process(call, args);
}

}  // namespace

long handle_clone(Call& call) {
  const auto flags = static_cast<std::uint64_t>(call.args[0]);
  // Arguments that the flags do not ask for are leftovers in registers.
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
  constexpr std::uint64_t kLegacy = (CSIGNAL & ~CLONE_NEWTIME) | CLONE_DETACHED;
  if ((given.flags & kLegacy) != 0 || given.flags >> 34 != 0 || given.exit_signal > kSignalCount) return -EINVAL;
  if ((given.flags & (CLONE_THREAD | CLONE_PARENT)) != 0 && given.exit_signal != 0) return -EINVAL;
  if ((given.stack == 0) != (given.stack_size == 0) || beyond_user_space(given.stack, given.stack_size)) return -EINVAL;
  constexpr std::uint64_t kLevels = 32;  // nested PID namespaces
  if ((given.set_tid == 0) != (given.set_tid_size == 0) || given.set_tid_size > kLevels) return -EINVAL;
  const bool in_memory = (given.flags & (CLONE_VM | CLONE_THREAD)) != 0;
  const bool by_clone3_alone = given.set_tid_size != 0 || (given.flags & CLONE_NEWTIME) != 0;
  if ((by_clone3_alone && in_memory) || (given.flags & CLONE_INTO_CGROUP) != 0) return -ENOSYS;
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
