#include "recorder/core/base/real_actions.h"

#include <sys/syscall.h>

#include "recorder/core/base/context.h"
#include "recorder/core/base/kernel_types.h"

// Hidden: otherwise the compiler would access it through a GOT, which a static image lacks.
#pragma GCC visibility push(hidden)
extern "C" void core_restorer();
#pragma GCC visibility pop

namespace reweave::core {

void set_real_action(int number, std::uint64_t handler, std::uint64_t flags, std::uint64_t mask) {
  const SignalAction action = {handler, flags | kSaRestorer, reinterpret_cast<std::uint64_t>(&core_restorer), mask};
  sys(SYS_rt_sigaction, number, &action, nullptr, 8);
}

void die_by_signal(int number) {
  set_real_action(number, 0, 0);
  const std::uint64_t others = ~signal_bit(number);  // the watchdog's signal may be pending and have no handler yet
  sys(SYS_rt_sigprocmask, SIG_SETMASK, &others, nullptr, 8);
  sys(SYS_tgkill, sys(SYS_getpid), sys(SYS_gettid), number);
  sys(SYS_exit_group, 128 + number);
  __builtin_unreachable();
}

}  // namespace reweave::core
