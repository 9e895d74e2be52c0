// The report of `reweave suspects`.
#pragma once

#include <string>

#include "predictor/suspects/suspects.h"

namespace reweave {

// `most`: suspects shown; 0: all. `all`: also pairs that are not suspected, with the reason.
std::string suspects_text(const SuspectReport& report, std::size_t most, bool all);
std::string suspects_json(const SuspectReport& report);
// SARIF 2.1.0, one result per suspect.
std::string suspects_sarif(const SuspectReport& report);

}  // namespace reweave
