// Follows the value with which a run failed back to the writes that made it.
#pragma once

#include <chrono>
#include <string>

#include "explorer/explain/way/ending.h"
#include "explorer/explain/way/value_way.h"
#include "explorer/words/places.h"

namespace reweave {

// `recording` is a recording of the run, `trace` its trace. Replays the run a few times, with one thread instruction by
// instruction. Errors in the input and of system calls do not throw; ValueWay::end reports them.
ValueWay find_value_way(const std::string& recording, const std::string& trace, const RunEnd& end, Places& places,
                        std::chrono::steady_clock::time_point deadline);

}  // namespace reweave
