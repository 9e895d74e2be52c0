// Which steps a report's JSON says to be the cause.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace reweave {

// The steps that the cause names, in the order of the failing run; of a deadlock, in the order of its cycle.
std::vector<nlohmann::json> steps_of_cause(const nlohmann::json& report);
// The one of them that stands for the cause where only one place can be shown: what comes in between, or comes first,
// and has a place in the source. Null if there is none.
nlohmann::json main_step_of_cause(const nlohmann::json& report);

}  // namespace reweave
