// Findings for programs: JSON of our own, and SARIF 2.1.0 for code-scanning viewers. From candidates (candidates.h),
// which hold everything by name; their witnesses are not needed.
#pragma once

#include <nlohmann/json.hpp>

#include "formats/candidates.h"
#include "predictor/analysis.h"

namespace reweave {

// `damage`: why not all of the trace was analysed, or empty. `left_out`: what the limits cut.
nlohmann::json findings_json(const CandidateSet& set, const std::string& damage = {}, const LeftOut& left_out = {});
nlohmann::json findings_sarif(const CandidateSet& set, const std::string& damage = {}, const LeftOut& left_out = {});

// A log of SARIF with one run, of Reweave.
nlohmann::json sarif_log(const nlohmann::json& rules, const nlohmann::json& results);
// A path as the reference of a URI: what is neither plain nor a slash is escaped.
std::string sarif_uri(const std::string& path);

}  // namespace reweave
