// The tables of a report: the pairs whose order was changed, the curve, the access patterns.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "explorer/explain/html/markup.h"

namespace reweave {

Html flips_section(const nlohmann::json& report);
Html curve_section(const nlohmann::json& report);
Html patterns_section(const nlohmann::json& report);

}  // namespace reweave
