#include "recorder/supervisor/target/core_signal.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "recorder/arena.h"

namespace reweave {

bool signal_core(std::int32_t process, std::int32_t thread, std::uint64_t value) {
  siginfo_t info = {};
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_value.sival_ptr = reinterpret_cast<void*>(value);  // NOLINT: a number in a pointer field
  return syscall(SYS_rt_tgsigqueueinfo, process, thread, kWatchdogSignal, &info) == 0;
}

}  // namespace reweave
