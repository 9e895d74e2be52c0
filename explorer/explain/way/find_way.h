// Follows the value with which a run failed back to the writes that made it.
#pragma once

#include <chrono>
#include <string>

#include "explorer/explain/way/ending.h"
#include "explorer/explain/way/value_way.h"
#include "explorer/places.h"

namespace reweave {

// `recording` is of the run, `trace` is its trace. Replays the run a few times, one thread instruction by instruction.
// Throws nothing but what a failing system throws: what prevents it is said in the way.
ValueWay find_value_way(const std::string& recording, const std::string& trace, const RunEnd& end, Places& places,
                        std::chrono::steady_clock::time_point deadline);

}  // namespace reweave
