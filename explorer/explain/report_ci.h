// An explanation in the formats that continuous integration shows, from its JSON (docs/explanation-format.md).
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace reweave {

// SARIF 2.1.0: the cause as one result, its steps as a flow for each thread.
nlohmann::json sarif_report(const nlohmann::json& report);
// SARIF's `codeFlows` alone; an empty list if there is no cause. `shown` gives the path by which to name a source file.
nlohmann::json code_flows(const nlohmann::json& report, const std::function<std::string(const std::string&)>& shown);
// JUnit's XML: one test case, which failed. `recording`: its name.
std::string junit_report(const nlohmann::json& report, const std::string& recording);

}  // namespace reweave
