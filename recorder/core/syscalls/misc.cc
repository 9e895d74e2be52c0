// prctl and other calls that set the process's own attributes.
#include <linux/prctl.h>
#include <sys/syscall.h>

#include "recorder/core/fatal.h"
#include "recorder/core/process.h"
#include "recorder/core/scheduler.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/seccomp.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

// Options that act on the thread or process and must hold in a replay as well.
bool performed_always(long option) { return option == PR_SET_NAME || option == PR_SET_DUMPABLE; }

constexpr long kSetVma = 0x53564d41;  // PR_SET_VMA: names memory

constexpr long kSetMdwe = 65, kGetMdwe = 66;  // PR_SET_MDWE, PR_GET_MDWE

// Once set, the flags stay (core/syscalls/memory.cc does what they say).
long memory_deny_write_execute(Call& call) {
  constexpr std::uint32_t kRefuseGain = 1;
  std::uint32_t& flags = process().write_xor_execute;
  const long* a = call.args;
  const bool set = a[0] == kSetMdwe;
  if ((!set && a[1] != 0) || a[2] != 0 || a[3] != 0 || a[4] != 0) return complete(call, -EINVAL);
  if (!set) return complete(call, flags);
  if ((a[1] & ~long{kRefuseGain | kMdweNotInherited}) != 0 || a[1] == kMdweNotInherited) return complete(call, -EINVAL);
  if (flags != 0 && flags != static_cast<std::uint32_t>(a[1])) return complete(call, -EPERM);
  flags = static_cast<std::uint32_t>(a[1]);
  return complete(call, 0);
}

int prctl_arguments(long option) {
  switch (option) {
    case kSetMdwe:
    case kGetMdwe:
      return 5;
    case PR_GET_DUMPABLE:
    case PR_GET_KEEPCAPS:
    case PR_GET_TIMING:
    case PR_GET_SECCOMP:
    case PR_GET_SECUREBITS:
    case PR_GET_TIMERSLACK:
    case PR_GET_NO_NEW_PRIVS:
    case PR_GET_THP_DISABLE:
      return 1;
    case PR_MCE_KILL:
    case PR_SET_MM:
    case PR_CAP_AMBIENT:
    case PR_GET_SPECULATION_CTRL:
    case PR_SET_SPECULATION_CTRL:
    case kSetVma:
      return 5;
    default:
      return 2;
  }
}

}  // namespace

long handle_prctl(Call& call) {
  const long option = call.args[0];
  use_arguments(call, prctl_arguments(option));
  if (option == PR_SET_SYSCALL_USER_DISPATCH) return complete(call, -EINVAL);
  if (option == PR_SET_TSC) {
    const bool known = call.args[1] == PR_TSC_ENABLE || call.args[1] == PR_TSC_SIGSEGV;
    if (known) call.me.tsc_faults = call.args[1] == PR_TSC_SIGSEGV ? 1 : 0;
    return complete(call, known ? 0 : -EINVAL);
  }
  if (option == PR_GET_TSC) {
    *reinterpret_cast<std::int32_t*>(call.args[1]) = call.me.tsc_faults != 0 ? PR_TSC_SIGSEGV : PR_TSC_ENABLE;
    return complete(call, 0);
  }
  if (option == kSetMdwe || option == kGetMdwe) return memory_deny_write_execute(call);
  if (option == PR_SET_SECCOMP) return set_seccomp(call, call.args[1], call.args[2]);
  if (option == PR_GET_SECCOMP && call.me.seccomp != 0) return complete(call, seccomp_mode(call.me));
  if (!live()) {
    if (performed_always(option)) sys(SYS_prctl, option, call.args[1], call.args[2], call.args[3], call.args[4]);
    return answered_call(call);
  }
  const long result = sys(SYS_prctl, option, call.args[1], call.args[2], call.args[3], call.args[4]);
  Output output = {static_cast<std::uint64_t>(call.args[1]), 0};
  switch (option) {
    case PR_GET_NAME:
      output.bytes = 16;
      break;
    case PR_GET_PDEATHSIG:
    case PR_GET_CHILD_SUBREAPER:
    case PR_GET_UNALIGN:
    case PR_GET_FPEMU:
    case PR_GET_FPEXC:
      output.bytes = 4;
      break;
    case PR_GET_TID_ADDRESS:
      output.bytes = 8;
      break;
    default:
      break;
  }
  log_call(call, result, &output, !is_error(result) && output.bytes != 0 ? 1 : 0);
  return result;
}

// READ_IMPLIES_EXEC shows in every mapping made from then on.
long handle_personality(Call& call) {
  if (live()) return recorded_call(call);
  sys(SYS_personality, call.args[0]);
  return answered_call(call);
}

namespace {

Thread* thread_of(Call& call) { return call.args[0] == 0 ? &call.me : thread_by_tid(call.args[0]); }

// The processors of `wanted` that the target was told of.
long set_affinity(Thread& thread, const std::uint64_t* wanted, std::uint64_t bytes) {
  const std::uint64_t words = bytes / 8 < 16 ? bytes / 8 : 16;
  std::uint64_t chosen[16] = {};
  std::uint64_t any = 0;
  for (std::uint64_t i = 0; i < words; i++) any |= chosen[i] = wanted[i] & config().affinity[i];
  if (any == 0) return -EINVAL;
  memcpy(thread.affinity, chosen, sizeof chosen);
  thread.affinity_bytes = config().affinity_bytes;
  return 0;
}

}  // namespace

// All threads of the tree share one processor. The target is told of the processors that the user gave it, and what
// it asks for is answered, and not done.
long handle_sched_affinity(Call& call) {
  if (replaying() && call.number == SYS_sched_getaffinity) return inject(call);
  if (replaying()) {
    const long result = inject(call);
    Thread* thread = thread_of(call);
    if (thread != nullptr && result == 0)
      set_affinity(*thread, reinterpret_cast<const std::uint64_t*>(call.args[2]),
                   static_cast<std::uint64_t>(call.args[1]));
    return result;
  }
  Thread* thread = thread_of(call);
  const auto room = static_cast<std::uint64_t>(call.args[1]);
  auto* mask = reinterpret_cast<std::uint64_t*>(call.args[2]);
  if (call.number == SYS_sched_setaffinity)
    return complete(call, thread != nullptr ? set_affinity(*thread, mask, room)
                                            : sys(SYS_sched_setaffinity, call.args[0], room, mask));
  const std::uint64_t bytes = config().affinity_bytes;
  if (room < bytes || room % 8 != 0) return complete(call, -EINVAL);
  if (thread == nullptr) return recorded_call(call);
  const Output output = {static_cast<std::uint64_t>(call.args[2]), bytes};
  memcpy(mask, thread->affinity_bytes != 0 ? thread->affinity : config().affinity, bytes);
  log_call(call, static_cast<long>(bytes), &output, 1);
  return static_cast<long>(bytes);
}

}  // namespace reweave::core
