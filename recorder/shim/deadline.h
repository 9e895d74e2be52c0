// Distinguishes the deadlines that glibc accepts from those that it rejects with EINVAL.
#pragma once

#include <ctime>

namespace reweave::shim {

inline bool has_valid_nanoseconds(const timespec* deadline) {
  return deadline == nullptr || (deadline->tv_nsec >= 0 && deadline->tv_nsec < 1'000'000'000);
}

// True for the clocks by which the kernel's futex waits can be limited.
inline bool can_wait_by(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC; }

inline bool is_valid(const timespec* deadline, clockid_t clock) {
  return has_valid_nanoseconds(deadline) && can_wait_by(clock);
}

}  // namespace reweave::shim
