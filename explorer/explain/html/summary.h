// The first part of a report: the failure, its cause, a remedy, and commands to see it again.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "explorer/explain/html/markup.h"

namespace reweave {

Html failure_header(const nlohmann::json& report, const std::string& recording);
Html cause_section(const nlohmann::json& report);
// The history of the value with which the run failed, latest step first; empty if it was not followed.
Html way_section(const nlohmann::json& report);
Html remedies_section(const nlohmann::json& report);
Html commands_section(const std::string& recording);
Html notes_section(const nlohmann::json& report);

}  // namespace reweave
