// Findings for programs: Reweave's JSON, and SARIF 2.1.0 for code-scanning viewers. Made from candidates
// (candidates.h), which hold everything by name; witnesses are not needed.
#pragma once

#include <nlohmann/json.hpp>

#include "formats/trace/candidates.h"
#include "formats/trace/read_counts.h"
#include "predictor/decide/analysis.h"

namespace reweave {

// `damage`: why the trace was not analysed completely, or empty. `left_out`: what the limits left out.
// `reads`: of the trace.
nlohmann::json findings_json(const CandidateSet& set, const std::string& damage = {}, const LeftOut& left_out = {},
                             const ReadCounts& reads = {});
nlohmann::json findings_sarif(const CandidateSet& set, const std::string& damage = {}, const LeftOut& left_out = {},
                              const ReadCounts& reads = {});

}  // namespace reweave
