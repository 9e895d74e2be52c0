// Writes a value's way as JSON (docs/explanation-format.md), and checks the consistency of the JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "explorer/explain/way/value_way.h"
#include "explorer/words/places.h"

namespace reweave {

nlohmann::json way_json(const ValueWay& way, Places& places);

// Describes the first inconsistency of a report's member `value_way`; empty if there is none. Throws json::exception if
// it has another form.
std::string wrong_in_way(const nlohmann::json& way);

}  // namespace reweave
