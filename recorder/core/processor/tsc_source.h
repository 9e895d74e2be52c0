// The machine's time stamp counter, for recording.
//
// Reading it requires turning off the fault that PR_SET_TSC asks for, and turning it on again, which in virtual
// machines goes to the hypervisor: 15 us were measured. So it is read a few times to learn its rate, and afterwards
// computed from CLOCK_MONOTONIC_RAW. The values that a program sees never decrease, and deviate from the counter by
// some 0.03 % of the time since it was last read; the deviation shrinks as the rate gets known better. Where the fault
// is not available (input_traps.h), the counter is read each time.
#pragma once

#include <cstdint>

namespace reweave::core {

// The present value, in this process. Thread rule: the baton holder only.
std::uint64_t read_tsc();

}  // namespace reweave::core
