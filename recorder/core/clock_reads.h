// clock_gettime(2) the short way: it is what programs do most often, and has records of its own (wire::ClockRecord).
#pragma once

#include "recorder/core/kernel_types.h"

namespace reweave::core {

// True: the clock_gettime that `context` is about to make was carried out. False: nothing was done, for the call is not
// a plain one.
bool read_clock(KernelContext& context);

}  // namespace reweave::core
