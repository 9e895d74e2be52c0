// Writes to the run's standard output and error while other threads can run. A replay repeats them in the recorded
// order, which must be the order in which the reader received them. So each write is made with the baton, in parts that
// cannot block.
#include "recorder/core/syscalls/files/streams.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "recorder/core/schedule/scheduler.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/scratch.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::uint64_t kAtomicBytes = 4096;  // PIPE_BUF: fits into a pipe that poll reports as writable (pipe(7))

bool is_nonblocking(long fd) { return (sys(SYS_fcntl, fd, F_GETFL, 0) & O_NONBLOCK) != 0; }

// Returns with the baton: 1 if the descriptor is ready, otherwise -EINTR or kNotStarted.
long wait_until_ready(Call& call, long fd, short events) {
  for (;;) {
    struct pollfd wanted = {static_cast<int>(fd), events, 0};
    if (sys(SYS_poll, &wanted, 1, 0) != 0) return 1;
    const long args[6] = {reinterpret_cast<long>(&wanted), 1, -1};
    call.flags |= wire::kLeftBaton;
    leave_baton();
    const long result = interruptible_syscall(call, SYS_poll, args);
    return_from_kernel();
    if (is_error(result)) return result;
  }
}

long write_all(Call& call, long fd, std::uint64_t address, std::uint64_t wanted) {
  std::uint64_t done = 0;
  do {
    const long ready = wait_until_ready(call, fd, POLLOUT);
    if (is_error(ready)) return done != 0 ? static_cast<long>(done) : ready;
    const std::uint64_t bytes = wanted - done < kAtomicBytes ? wanted - done : kAtomicBytes;
    const long result = sys(SYS_write, fd, address + done, bytes);
    if (result == -EINTR && call.me.queued.load() == 0) continue;
    if (is_error(result)) return done != 0 ? static_cast<long>(done) : result;
    done += static_cast<std::uint64_t>(result);
  } while (done < wanted);
  return static_cast<long>(done);
}

bool is_of_type(long fd, std::uint32_t type) {
  struct stat status = {};
  return !is_error(sys(SYS_fstat, fd, &status)) && (status.st_mode & S_IFMT) == type;
}

// A copy that the kernel would make for sendfile or splice.
struct Copy {
  long from, to;
  long* offset;  // in `from`, or null
  std::uint64_t bytes;
};

Copy copy_of(const Call& call) {
  const long* a = call.args;
  const CallPlaces& at = call.row->at;
  return {a[at.from], a[at.to], reinterpret_cast<long*>(a[at.in_offset]), static_cast<std::uint64_t>(a[at.count])};
}

// Waits until data is available and reads it into scratch.
long read_some(Call& call, const Copy& copy, std::uint64_t to) {
  constexpr long kNonblocking = 2;  // SPLICE_F_NONBLOCK
  const std::uint64_t bytes = copy.bytes < kScratchBytes ? copy.bytes : kScratchBytes;
  if (copy.offset != nullptr) return sys(SYS_pread64, copy.from, to, bytes, *copy.offset);
  struct pollfd now = {static_cast<int>(copy.from), POLLIN, 0};
  const bool waits = (call.row->flags & kBetweenPipes) != 0 && is_of_type(copy.from, S_IFIFO);
  if (waits && (call.args[5] & kNonblocking) != 0 && sys(SYS_poll, &now, 1, 0) == 0) return -EAGAIN;
  const long ready = waits ? wait_until_ready(call, copy.from, POLLIN) : 1;
  return is_error(ready) ? ready : sys(SYS_read, copy.from, to, bytes);
}

}  // namespace

bool is_stream_write(const Call& call) {
  const bool to_stream = (call.flags & (wire::kWritesStdout | wire::kWritesStderr)) != 0;
  const bool is_plain = call.row->at.change == HowChanged::kAtPosition && call.row->outs[0].kind == OutKind::kIn;
  return to_stream && is_plain && !is_nonblocking(call.args[0]);
}

long write_to_stream(Call& call) {
  return write_all(call, call.args[0], static_cast<std::uint64_t>(call.args[1]),
                   static_cast<std::uint64_t>(call.args[2]));
}

bool can_be_copied(const Call& call) {
  const bool between_pipes = (call.row->flags & kBetweenPipes) != 0;
  if (call.row->at.in_offset < 0 || (!between_pipes && call.row->at.flags >= 0)) return false;  // tee, copy_file_range
  const Copy copy = copy_of(call);
  if (is_nonblocking(copy.to) || copy.bytes == 0) return false;
  if (!between_pipes) return is_of_type(copy.from, S_IFREG);
  if (call.args[3] != 0) return false;  // an offset in the output
  if (is_of_type(copy.from, S_IFIFO)) return copy.offset == nullptr;
  return is_of_type(copy.from, S_IFREG) && is_of_type(copy.to, S_IFIFO);
}

long copy_to_stream(Call& call) {
  constexpr long kFromHere = 1;  // SEEK_CUR
  const Copy copy = copy_of(call);
  const std::uint64_t scratch = scratch_of(call.me);
  const long got = read_some(call, copy, scratch);
  const long written = got > 0 ? write_all(call, copy.to, scratch, static_cast<std::uint64_t>(got)) : got;
  const long done = is_error(written) ? 0 : written;
  if (copy.offset != nullptr)
    *copy.offset += done;
  else if (got > done)
    sys(SYS_lseek, copy.from, done - got, kFromHere);
  const Output outputs[] = {{scratch, static_cast<std::uint64_t>(done)},
                            {reinterpret_cast<std::uint64_t>(copy.offset), sizeof *copy.offset}};
  call.flags |= fd_stream(copy.to);
  log_call(call, written, outputs, is_error(written) ? 0 : copy.offset != nullptr ? 2 : 1);
  return written;
}

}  // namespace reweave::core
