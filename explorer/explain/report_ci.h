// An explanation in the formats that continuous integration shows, from its JSON (docs/explanation-format.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace reweave {

// SARIF 2.1.0: the cause as one result, its steps as a flow for each thread.
nlohmann::json sarif_report(const nlohmann::json& report);
// JUnit's XML: one test case, which failed. `recording`: its name.
std::string junit_report(const nlohmann::json& report, const std::string& recording);

}  // namespace reweave
