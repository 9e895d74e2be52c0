// The time stamp counter of the machine, for recording.
//
// To read it, the fault that PR_SET_TSC asks for must be turned off and on again, and in virtual machines that goes to
// the hypervisor: 15 us were seen. So it is read a few times to learn its rate, and after that computed from
// CLOCK_MONOTONIC_RAW. What a program sees never goes back, and keeps to the counter within some 0.03 % of the time
// since it was last read, less and less as the rate is known better. Where that fault cannot be had (input_traps.h), it
// is read each time.
#pragma once

#include <cstdint>

namespace reweave::core {

// The value now. Of this process; with the baton.
std::uint64_t read_tsc();

}  // namespace reweave::core
