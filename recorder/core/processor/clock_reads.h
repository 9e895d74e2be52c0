// clock_gettime(2) and gettimeofday(2) the short way: they are what programs do most often, and have records of their
// own (wire::ClockRecord).
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// True: the call that `context` is about to make was carried out. False: nothing was done, for it is no plain reading
// of a clock.
bool read_clock(KernelContext& context, long number);

}  // namespace reweave::core
