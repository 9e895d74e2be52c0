// A fast path for clock_gettime(2) and gettimeofday(2), which programs call more often than anything else. They have
// records of their own (wire::ClockRecord).
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// True: the call that `context` is about to make was carried out. False: nothing was done, because it is not a plain
// clock read.
bool read_clock(KernelContext& context, long number);

}  // namespace reweave::core
