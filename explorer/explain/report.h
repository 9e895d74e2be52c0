// The reports of an explanation.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "explorer/explain/explanation.h"
#include "explorer/words/places.h"

namespace reweave {

// docs/explanation-format.md describes it.
nlohmann::json json_report(const Explanation& explanation, Places& places);
// Text for one screen, from the JSON; with `full`, all rows of all tables.
std::string text_report(const nlohmann::json& report, bool full);

}  // namespace reweave
