// From a trace to ranked findings: runs the analyses, decides feasibility of what they propose, merges and ranks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "predictor/finding.h"
#include "predictor/trace_model.h"

namespace reweave {

struct PredictOptions {
  std::vector<std::string> analyses;  // names of analyses/all.cc; empty = all. Unknown names throw invalid_argument.
  double budget_seconds = 60;         // stop looking after this much time; what was found is returned
  std::size_t max_findings = 1000;    // best first
  bool assume_data_reads = true;      // look for atomicity violations under ReadRule::kUpdatesCarryData, too
};

struct PredictStats {
  struct Pass {
    std::string name;
    double seconds = 0;
    std::size_t groups = 0;    // proposed
    std::size_t checks = 0;    // feasibility questions asked
    std::size_t feasible = 0;  // findings found
    std::size_t undecided = 0;
  };
  std::vector<Pass> passes;
  bool out_of_time = false;
};

// Findings, best first. Deterministic unless time runs out. `stats` may be null.
std::vector<Finding> predict(const TraceModel& model, const PredictOptions& options, PredictStats* stats = nullptr);

}  // namespace reweave
