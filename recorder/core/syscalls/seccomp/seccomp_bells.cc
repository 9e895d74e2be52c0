#include "recorder/core/syscalls/seccomp/seccomp_bells.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "recorder/core/signals/kernel_signals.h"
#include "recorder/core/signals/signals.h"
#include "recorder/core/syscalls/seccomp/seccomp_listener.h"
#include "recorder/live_threads.h"

namespace reweave::core {

namespace {

// Identifies the pipe behind `fd`; 0 if it is no pipe.
std::uint64_t name_of_pipe(long fd) {
  constexpr int kDeviceShift = 48;
  struct stat status;
  if (is_error(sys(SYS_fstat, fd, &status)) || (status.st_mode & S_IFMT) != S_IFIFO) return 0;
  return status.st_ino ^ status.st_dev << kDeviceShift;
}

bool is_below(std::uint32_t filter, const SeccompFilter& wanted) {
  for (; filter != 0; filter = state().seccomp_filters[filter - 1].older)
    if (&state().seccomp_filters[filter - 1] == &wanted) return true;
  return false;
}

// True if a thread of the calling process has a filter whose bell this is.
bool is_in_use(std::int32_t bell) {
  const RuntimeState& s = state();
  for (std::uint32_t number = 0; number < s.seccomp_count; number++) {
    const SeccompFilter& filter = s.seccomp_filters[number];
    if (filter.notifies == 0 || filter.bell != bell) continue;
    for (const Thread& thread : threads_of(state(), process())) {
      const bool has_filters = thread.seccomp != 0 && thread.seccomp <= s.seccomp_count;
      if (has_filters && is_below(thread.seccomp, filter)) return true;
    }
  }
  return false;
}

std::int32_t unused_bell() {
  for (std::int32_t bell = kBellFds; bell < kBellFds + kMaxBells; bell++)
    if (!is_in_use(bell)) return bell;
  return -EMFILE;
}

}  // namespace

long open_listener(SeccompFilter& filter) {
  int ends[2];
  const std::int32_t bell = unused_bell();
  if (bell < 0) return bell;
  const long made = sys(SYS_pipe2, ends, O_CLOEXEC);
  if (is_error(made)) return made;
  sys(SYS_dup3, ends[1], bell, 0);
  sys(SYS_close, ends[1]);
  filter.bell = bell;
  filter.listener = name_of_pipe(ends[0]);
  return ends[0];
}

void silence_bells() {
  bool any = false;
  const RuntimeState& s = state();
  for (std::uint32_t i = 0; i < s.seccomp_count; i++) any = any || s.seccomp_filters[i].notifies != 0;
  if (!any) return;
  for (std::int32_t bell = kBellFds; bell < kBellFds + kMaxBells; bell++)
    if (!is_in_use(bell)) sys(SYS_dup3, kArenaFd, bell, 0);
}

std::uint32_t filter_of_listener(long fd) {
  const std::uint64_t name = name_of_pipe(fd);
  const RuntimeState& s = state();
  for (std::uint32_t i = s.seccomp_count; name != 0 && i > 0; i--)
    if (s.seccomp_filters[i - 1].notifies != 0 && s.seccomp_filters[i - 1].listener == name) return i;
  return 0;
}

// The signal of a broken pipe is the core's own affair.
bool ring(const SeccompFilter& filter) {
  const std::uint64_t broken = signal_bit(SIGPIPE);
  const long at_once[2] = {0, 0};
  const char byte = 0;
  std::uint64_t before = 0;
  sys(SYS_rt_sigprocmask, SIG_BLOCK, &broken, &before, 8);
  const long result = sys(SYS_write, filter.bell, &byte, 1);
  if (result == -EPIPE) sys(SYS_rt_sigtimedwait, &broken, nullptr, at_once, 8);
  sys(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, 8);
  return result == 1;
}

bool take_ring(long listener) {
  char byte = 0;
  return (state_of_pipe(listener) & POLLIN) != 0 && sys(SYS_read, listener, &byte, 1) == 1;
}

std::uint32_t state_of_pipe(long fd) {
  struct pollfd poll = {static_cast<int>(fd), POLLIN, 0};
  sys(SYS_poll, &poll, 1, 0);
  return static_cast<std::uint16_t>(poll.revents);
}

long sleep_at_pipe(long fd, int limit_ms, const std::uint64_t* interruptions) {
  struct pollfd poll = {static_cast<int>(fd), POLLIN, 0};
  const long args[6] = {reinterpret_cast<long>(&poll), fd < 0 ? 0 : 1, limit_ms};
  return core_blocking_syscall(SYS_poll, args, interruptions);
}

}  // namespace reweave::core
