// Finds the steps of the cause in a report's JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace reweave {

// The orders that make the failure together, each with its steps `first` and `then`; empty if there are none.
nlohmann::json orders_together(const nlohmann::json& report);
// True if no cause was shown, but the failing schedule passes without the order of the first flip.
bool only_needs_order(const nlohmann::json& report);
// The steps that the cause names, in the order of the failing run; of a deadlock, in the order of its cycle.
std::vector<nlohmann::json> steps_of_cause(const nlohmann::json& report);
// The step that represents the cause if only one place can be shown: the event that breaks a block, or else the first
// step with a place in the source. Null if there is none.
nlohmann::json main_step_of_cause(const nlohmann::json& report);

}  // namespace reweave
