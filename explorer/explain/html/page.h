// An explanation as one HTML file that asks for nothing: a report for people, from a continuous integration's
// artifacts.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "explorer/explain/explanation.h"
#include "explorer/places.h"

namespace reweave {

// The report of json_report, whatever texts are in it. `recording`: its path, for the commands that are shown.
std::string html_report(const nlohmann::json& report, const std::string& recording);
// The same from what it reports on. Throws CheckFailed if its figures do not agree (report_check.h).
std::string html_report(const Explanation& explanation, Places& places, const std::string& recording);

}  // namespace reweave
