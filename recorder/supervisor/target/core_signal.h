// The supervisor's signal to the core in a thread of the target.
#pragma once

#include <cstdint>

namespace reweave {

// Sends kWatchdogSignal with one of the values of recorder/arena.h. False: the thread does not exist.
bool signal_core(std::int32_t process, std::int32_t thread, std::uint64_t value);

}  // namespace reweave
