// Does a report bear out what it states? A second computation, from its counts and steps alone, of everything in it
// that can be computed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "explorer/explain/explanation.h"
#include "explorer/places.h"

namespace reweave {

// The first statement of the report (docs/explanation-format.md) that its counts do not bear out; none if all are.
// What was only counted (which runs were not feasible, how many were made) has no second source; it is held to what
// bounds it.
std::optional<std::string> check_report(const nlohmann::json& report);

// json_report, checked. Throws CheckFailed.
nlohmann::json checked_report(const Explanation& explanation, Places& places);

}  // namespace reweave
