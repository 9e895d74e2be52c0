// How likely the failure is along the failing schedule, as a drawing.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "explorer/explain/html/markup.h"

namespace reweave {

// SVG; empty if the report has no curve.
Html curve_drawing(const nlohmann::json& report);

}  // namespace reweave
