// A value's way as JSON (docs/explanation-format.md), and whether that is consistent.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "explorer/explain/way/value_way.h"
#include "explorer/places.h"

namespace reweave {

nlohmann::json way_json(const ValueWay& way, Places& places);

// What is wrong with the member `value_way` of a report; empty if nothing is. Throws json::exception where it has
// another form.
std::string wrong_in_way(const nlohmann::json& way);

}  // namespace reweave
