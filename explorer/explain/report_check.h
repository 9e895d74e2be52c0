// Checks a report: computes again, only from its counts and steps, everything in it that can be computed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "explorer/explain/explanation.h"
#include "explorer/words/places.h"

namespace reweave {

// Returns the first statement of the report (docs/explanation-format.md) that does not follow from its counts; none if
// all do. Plain counts, such as those of runs made or not feasible, have no second source and are only checked against
// bounds.
std::optional<std::string> check_report(const nlohmann::json& report);

// Returns the result of json_report. Throws CheckFailed if a check fails.
nlohmann::json checked_report(const Explanation& explanation, Places& places);

}  // namespace reweave
