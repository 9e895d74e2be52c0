// Calls that the kernel makes again by itself after a stop, with the time that is left (restart_syscall(2)). Behind a
// handler of ours it does not, so we do.
#pragma once

#include "recorder/core/syscalls/table.h"

namespace reweave::core {

class TimeLimit {
 public:
  // The call is about to be made.
  TimeLimit(long number, const long* args);
  // It was interrupted: its arguments for what is left. Valid as long as this object.
  const long* left();

 private:
  const SyscallRow& row_;
  bool some_;
  long args_[6];
  std::int64_t began_ = 0;  // CLOCK_MONOTONIC nanoseconds
  std::int64_t time_[2] = {0, 0};
};

}  // namespace reweave::core
