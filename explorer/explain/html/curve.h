// Draws the probability of failure along the failing schedule.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "explorer/explain/html/markup.h"

namespace reweave {

// SVG; empty if the report has no curve.
Html curve_drawing(const nlohmann::json& report);

}  // namespace reweave
