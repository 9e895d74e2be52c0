#include "recorder/core/syscalls/time_limits.h"

#include <sys/syscall.h>
#include <time.h>

#include "recorder/core/base/sys.h"
#include "recorder/core/memory/address_space.h"

namespace reweave::core {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000, kMillisecond = 1'000'000;

bool has_limit(long number, const long* args) {
  switch (number) {
    case SYS_poll:
      return static_cast<std::int32_t>(args[2]) > 0;
    case SYS_nanosleep:
      return true;
    case SYS_clock_nanosleep:
      return args[1] == 0 && (args[0] == CLOCK_REALTIME || args[0] == CLOCK_MONOTONIC);
    default:
      return false;
  }
}

std::int64_t at_least_zero(std::int64_t time) { return time > 0 ? time : 0; }

}  // namespace

TimeLimit::TimeLimit(long number, const long* args) : number_(number), some_(has_limit(number, args)) {
  memcpy(args_, args, sizeof args_);
  if (some_) began_ = monotonic_now();
}

const long* TimeLimit::left() {
  if (!some_) return args_;
  const std::int64_t now = monotonic_now(), gone = now - began_;
  began_ = now;
  if (number_ == SYS_poll) {
    args_[2] = at_least_zero(static_cast<std::int32_t>(args_[2]) - gone / kMillisecond);
    return args_;
  }
  long& time = args_[number_ == SYS_nanosleep ? 0 : 2];
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
