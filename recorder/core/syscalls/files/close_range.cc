// Closes or marks a range of descriptors. The caller may get its own copy of the table first (close_range(2)).
#include <linux/sched.h>
#include <sys/syscall.h>

#include "recorder/core/syscalls/call.h"
#include "recorder/core/syscalls/files/fd_sharing.h"
#include "recorder/core/syscalls/files/fd_table.h"
#include "recorder/core/syscalls/handlers.h"
#include "recorder/core/syscalls/recorded.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr long kUnshares = 2, kOnlyMarks = 4;  // CLOSE_RANGE_UNSHARE, CLOSE_RANGE_CLOEXEC

// Leaves the core's own descriptors open.
long close_others(std::uint32_t first, std::uint32_t last, long flags) {
  constexpr std::uint32_t kFirstOurs = kArenaFd, kLastOurs = kArenaFd + kReservedFds - 1;
  if (first > last || (flags & ~(kUnshares | kOnlyMarks)) != 0) return -EINVAL;
  long result = (flags & kUnshares) != 0 ? sys(SYS_unshare, CLONE_FILES) : 0;
  flags &= kOnlyMarks;
  if (result == 0 && first < kFirstOurs)
    result = sys(SYS_close_range, first, last < kFirstOurs ? last : kFirstOurs - 1, flags);
  if (result == 0 && last > kLastOurs)
    result = sys(SYS_close_range, first > kLastOurs ? first : kLastOurs + 1, last, flags);
  return result;
}

}  // namespace

long handle_close_range(Call& call) {
  const auto first = static_cast<std::uint32_t>(call.args[0]);
  const auto last = static_cast<std::uint32_t>(call.args[1]);
  long result = 0;
  if (live()) {
    result = close_others(first, last, call.args[2]);
    log_call(call, result, nullptr, 0);
  } else {
    result = answered_call(call);
  }
  if (is_error(result)) return result;
  if ((call.args[2] & kUnshares) != 0) unshare_descriptors();
  if ((call.args[2] & kOnlyMarks) == 0) forget_fds(first, last);
  return result;
}

}  // namespace reweave::core
