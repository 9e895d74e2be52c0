// JSON as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace reweave {

// Bytes that are not UTF-8 become U+FFFD (file names may contain any bytes). `indent`: spaces per level; -1: everything
// on one line.
std::string json_text(const nlohmann::json& value, int indent = 2);

}  // namespace reweave
