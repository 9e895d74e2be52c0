// Which steps a report's JSON says to be the cause.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace reweave {

// The steps that the cause names, in the order of the failing run; of a deadlock, in the order of its cycle.
std::vector<nlohmann::json> steps_of_cause(const nlohmann::json& report);

}  // namespace reweave
