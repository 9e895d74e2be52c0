// Times of the C library in seconds.
#pragma once

#include <sys/time.h>

namespace reweave {

inline double seconds_in(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace reweave
