// Calls that the kernel restarts after a stop with the time that is left (restart_syscall(2)). It does not do so after
// a handler of the core, so the core does.
#pragma once

#include "recorder/core/syscalls/table.h"

namespace reweave::core {

class TimeLimit {
 public:
  // Create the object right before the call is made.
  TimeLimit(long number, const long* args);
  // After an interruption: returns the arguments of the call for the time that is left. Valid as long as this object.
  const long* left();

 private:
  const SyscallRow& row_;
  bool some_;
  long args_[6];
  std::int64_t began_ = 0;  // CLOCK_MONOTONIC nanoseconds
  std::int64_t time_[2] = {0, 0};
};

}  // namespace reweave::core
