// JSON as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace reweave {

// Bytes that are not UTF-8 become U+FFFD (file names may contain any). `indent`: spaces a level; -1: all in one line.
std::string json_text(const nlohmann::json& value, int indent = 2);

}  // namespace reweave
