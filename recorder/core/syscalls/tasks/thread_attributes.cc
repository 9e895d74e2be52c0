// Attributes that a thread sets for itself: the address of its ID, its list of robust locks, its segments.
#include <asm/prctl.h>
#include <sys/syscall.h>

#include "recorder/core/base/fatal.h"
#include "recorder/core/schedule/process.h"
#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

long handle_set_tid_address(Call& call) {
  call.me.clear_child_tid = static_cast<std::uint64_t>(call.args[0]);
  if (replaying()) {
    const long tid = inject(call);
    call.me.tid = static_cast<std::int32_t>(tid);
    return tid;
  }
  return complete(call, call.me.tid);
}

namespace {

constexpr long kRobustHeadBytes = 24;  // struct robust_list_head

}  // namespace

long handle_set_robust_list(Call& call) {
  if (call.args[1] != kRobustHeadBytes) return complete(call, -EINVAL);
  call.me.robust_list = static_cast<std::uint64_t>(call.args[0]);
  return complete(call, 0);
}

// For threads outside the tree, asks the kernel, which returns an error except to privileged programs.
long handle_get_robust_list(Call& call) {
  const Thread* of = call.args[0] == 0 ? &call.me : thread_by_tid(call.args[0]);
  if (of == nullptr) return recorded_call(call);
  *reinterpret_cast<std::uint64_t*>(call.args[2]) = kRobustHeadBytes;
  *reinterpret_cast<std::uint64_t*>(call.args[1]) = of->robust_list;
  return complete(call, 0);
}

long handle_arch_prctl(Call& call) {
  const long code = call.args[0];
  if (code == ARCH_GET_GS) {
    *reinterpret_cast<std::uint64_t*>(call.args[1]) = 0;
    return complete(call, 0);
  }
  if (code == ARCH_SET_GS && call.args[1] == 0) return complete(call, 0);
  if (code == ARCH_SET_GS && static_cast<std::uint64_t>(call.args[1]) >> 47 != 0) return complete(call, -EPERM);
  constexpr long kGetCpuid = 0x1011, kSetCpuid = 0x1012;
  if (code == kGetCpuid) return complete(call, 1);
  if (code == kSetCpuid) return complete(call, -ENODEV);  // as on processors whose CPUID cannot be made to fault
  // State components that exist, may be used, or may be used by guests: these depend on the processor.
  constexpr long kGetSupported = 0x1021, kGetPermitted = 0x1022, kGetGuestPermitted = 0x1024;
  if (code == kGetSupported || code == kGetPermitted || code == kGetGuestPermitted) return recorded_call(call);
  if (code == ARCH_SET_GS)
    stop_run(wire::OutcomeKind::kUnsupported,
             "arch_prctl(ARCH_SET_GS): the program uses the GS register, which Reweave needs");
  if (code == ARCH_SET_FS || code == ARCH_GET_FS) return complete(call, sys(SYS_arch_prctl, code, call.args[1]));
  return complete(call, -EINVAL);
}

}  // namespace reweave::core
