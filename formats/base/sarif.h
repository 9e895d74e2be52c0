// The common frame of all SARIF 2.1.0 logs that Reweave writes.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace reweave {

// A log with one run, of Reweave.
nlohmann::json sarif_log(const nlohmann::json& rules, const nlohmann::json& results);

}  // namespace reweave
