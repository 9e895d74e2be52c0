#include "recorder/core/guard.h"

#include <linux/prctl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include "recorder/core/base/sys.h"
#include "recorder/core/signals/kernel_signals.h"
#include "recorder/guard.h"
#include "recorder/runtime_state.h"

namespace reweave::core {

namespace {

constexpr int kQuietRounds = 3;
constexpr long kBetweenRounds[2] = {0, 10'000'000};  // seconds, nanoseconds

void become_inconspicuous() {
  sys(SYS_setsid);
  const int no_priority = 0;
  // Otherwise the supervisor would be preempted by the guard when it dismisses it.
  sys(SYS_sched_setscheduler, 0, SCHED_BATCH, &no_priority);
  SignalAction ignore = {};
  ignore.handler = 1;
  for (int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE}) sys(SYS_rt_sigaction, number, &ignore, nullptr, 8);
  sys(SYS_prctl, PR_SET_NAME, kGuardName);
}

// Kills the processes that the runtime state lists as alive. Used when /proc cannot be read.
long kill_known() {
  const long base = sys(SYS_mmap, 0, kRingsOffset, PROT_READ, MAP_SHARED, kGuardArena, 0);
  if (is_error(base)) return 0;
  const auto& state = *reinterpret_cast<const RuntimeState*>(base + static_cast<long>(kHeaderBytes));
  long killed = 0;
  for (std::uint32_t i = 0; i < state.process_count && i < kMaxProcesses; i++)
    if (state.processes[i].alive != 0 && state.processes[i].real_pid > 1)
      killed += !is_error(sys(SYS_kill, state.processes[i].real_pid, SIGKILL));
  sys(SYS_munmap, base, kRingsOffset);
  return killed;
}

void end_target(bool is_recorded) {
  static constexpr char kStopped[] = "reweave: the supervisor was killed, so the program is ended";
  static constexpr char kTruncated[] = ", its recording is truncated";
  sys(SYS_write, 2, kStopped, sizeof kStopped - 1);
  if (is_recorded) sys(SYS_write, 2, kTruncated, sizeof kTruncated - 1);
  sys(SYS_write, 2, "\n", 1);
  const auto call = [](auto... arguments) { return sys(arguments...); };
  // A process may be forking at this moment: repeat until none is left.
  for (int quiet = 0; quiet < kQuietRounds;) {
    const long found = kill_holders(call, kGuardArena);
    const long killed = found >= 0 ? found : kill_known();
    quiet = killed > 0 ? 0 : quiet + 1;
    sys(SYS_nanosleep, kBetweenRounds, nullptr);
  }
}

}  // namespace

bool is_guard(long argc, const char* name) {
  return (argc == 1 || argc == kGuardArguments) && string_equal(name, kGuardName);
}

void keep_watch(char** arguments) {
  become_inconspicuous();
  char message = 0;
  while (sys(SYS_read, kGuardLifeline, &message, 1) == -EINTR) {
  }
  if (message != kDismissed) {
    end_target(arguments[1] != nullptr);
    if (arguments[1] != nullptr) sys(SYS_execve, arguments[1], arguments + 1, arguments + kGuardArguments);
  }
  sys(SYS_exit_group, 0);
  __builtin_unreachable();
}

}  // namespace reweave::core
