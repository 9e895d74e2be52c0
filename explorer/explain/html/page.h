// An explanation as one HTML file that loads no other file: a report for people, among the artifacts of a CI job.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "explorer/explain/explanation.h"
#include "explorer/words/places.h"

namespace reweave {

// Returns the page for a report of json_report(), whose texts may be hostile. `recording`: the path that the shown
// commands use.
std::string html_report(const nlohmann::json& report, const std::string& recording);
// The page for an explanation. Throws CheckFailed if the report's figures do not agree (report_check.h).
std::string html_report(const Explanation& explanation, Places& places, const std::string& recording);

}  // namespace reweave
