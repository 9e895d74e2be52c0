#include "recorder/core/syscalls/time_limits.h"

#include <sys/syscall.h>
#include <time.h>

#include "recorder/core/base/sys.h"
#include "recorder/core/memory/address_space.h"
#include "recorder/core/syscalls/table.h"

namespace reweave::core {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000, kMillisecond = 1'000'000;

bool has_limit(const SyscallRow& row, const long* args) {
  if ((row.flags & kCountsDown) == 0) return false;
  if ((row.flags & kMilliseconds) != 0) return static_cast<std::int32_t>(args[row.at.limit]) > 0;
  if (row.at.flags < 0) return true;
  const long clock = args[row.at.clock];
  return args[row.at.flags] == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC);
}

std::int64_t at_least_zero(std::int64_t time) { return time > 0 ? time : 0; }

}  // namespace

TimeLimit::TimeLimit(long number, const long* args) : row_(*find_row(number)), some_(has_limit(row_, args)) {
  memcpy(args_, args, sizeof args_);
  if (some_) began_ = monotonic_now();
}

const long* TimeLimit::left() {
  if (!some_) return args_;
  const std::int64_t now = monotonic_now(), gone = now - began_;
  began_ = now;
  long& time = args_[row_.at.limit];
  if ((row_.flags & kMilliseconds) != 0) {
    time = at_least_zero(static_cast<std::int32_t>(time) - gone / kMillisecond);
    return args_;
  }
  const auto own = reinterpret_cast<long>(time_);
  if (time != own) {
    if (bytes_there(static_cast<std::uint64_t>(time), sizeof time_) != sizeof time_) return args_;
    memcpy(time_, reinterpret_cast<const void*>(time), sizeof time_);
    time = own;
  }
  const std::int64_t left = at_least_zero(time_[0] * kSecond + time_[1] - gone);
  time_[0] = left / kSecond;
  time_[1] = left % kSecond;
  return args_;
}

}  // namespace reweave::core
