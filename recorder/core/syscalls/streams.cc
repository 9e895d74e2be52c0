// Writes to the run's standard output and error while others could run. A replay repeats them one after the other in
// the recorded order, so that must be the order in which the reader got them: each is made with the baton, in parts
// that cannot block.
#include "recorder/core/syscalls/streams.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>

#include "recorder/core/scheduler.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kAtomicBytes = 4096;  // PIPE_BUF: what fits into a pipe that poll calls writable (man 7 pipe)

bool is_nonblocking(long fd) { return (sys(SYS_fcntl, fd, F_GETFL, 0) & O_NONBLOCK) != 0; }

// Returns with the baton when the descriptor is writable (1), or -EINTR or kNotStarted.
long wait_until_writable(Call& call) {
  for (;;) {
    struct pollfd wanted = {static_cast<int>(call.args[0]), POLLOUT, 0};
    if (sys(SYS_poll, &wanted, 1, 0) != 0) return 1;
    const long args[6] = {reinterpret_cast<long>(&wanted), 1, -1};
    call.flags |= wire::kLeftBaton;
    leave_baton();
    const long result = interruptible_syscall(call, SYS_poll, args);
    return_from_kernel();
    if (is_error(result)) return result;
  }
}

}  // namespace

bool is_stream_write(const Call& call) {
  const bool to_stream = (call.flags & (wire::kWritesStdout | wire::kWritesStderr)) != 0;
  return to_stream && call.number == SYS_write && !is_nonblocking(call.args[0]);
}

long write_to_stream(Call& call) {
  const auto wanted = static_cast<std::uint64_t>(call.args[2]);
  std::uint64_t done = 0;
  do {
    const long ready = wait_until_writable(call);
    if (is_error(ready)) return done != 0 ? static_cast<long>(done) : ready;
    const std::uint64_t bytes = wanted - done < kAtomicBytes ? wanted - done : kAtomicBytes;
    const long args[6] = {call.args[0], call.args[1] + static_cast<long>(done), static_cast<long>(bytes)};
    const long result = syscall_with_stops(call, args);
    if (is_error(result)) return done != 0 ? static_cast<long>(done) : result;
    done += static_cast<std::uint64_t>(result);
  } while (done < wanted);
  return static_cast<long>(done);
}

}  // namespace reweave::core
