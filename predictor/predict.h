// From a trace to ranked findings: runs the analyses, decides which of their proposals are feasible, merges and ranks.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "predictor/decide/analysis.h"
#include "predictor/model/trace_model.h"
#include "predictor/witness/finding.h"

namespace reweave {

class DecisionJournal;

struct PredictOptions {
  std::vector<std::string> analyses =
      {};                       // names of analyses/all.cc; empty = all. Unknown names throw invalid_argument.
  bool keep_order = false;      // look only for reorderings that keep the order of critical sections
  double budget_seconds = 600;  // stop after this much time and return the findings so far
  Limits limits = {};
  // Called now and then, from any thread but never concurrently: `done` of `all` groups of the pass are decided.
  std::function<void(const std::string& pass, std::size_t done, std::size_t all)> progress = {};
  std::function<bool()> interrupted = {};  // true: stop, as if time were up
  // The source line of a site, used to merge findings with the same cause. Empty: no merging.
  std::function<std::string(std::uint32_t site)> place = {};
  std::function<bool(std::uint32_t site)> asserts =
      {};                              // true if the code there is an assertion, which makes a failure visible
  DecisionJournal* journal = nullptr;  // decisions of earlier runs; this run adds its own
  bool assume_data_reads = true;       // also look for atomicity violations under ReadRule::kUpdatesCarryData
};

struct PredictStats {
  struct Pass {
    std::string name;
    double seconds = 0;
    std::size_t groups = 0;    // proposed by the analysis
    std::size_t checks = 0;    // feasibility checks made
    std::size_t feasible = 0;  // groups found feasible
    std::size_t undecided = 0;
  };
  std::vector<Pass> passes;
  bool out_of_time = false;  // or interrupted
  LeftOut left_out;          // because of the limits
  // Groups that could not be decided: neither reported nor ruled out.
  struct Undecided {
    FindingKind kind;
    std::string pattern;
    std::vector<std::uint32_t> sites;
  };
  std::vector<Undecided> undecided;
  std::vector<std::string> unfinished;  // passes that ran out of time before the end of the trace
};

// Returns the findings, best first. They are ordered by score, which depends on the severity of the kind of bug, on the
// likelihood that the code has it, and on the likelihood of a crash (a release, null, an assertion). Equal scores are
// ordered by the number of switches in the witness after its common prefix with the trace, then by the distance of the
// events in the trace. Deterministic unless time runs out. `stats` may be null.
std::vector<Finding> predict(const TraceModel& model, const PredictOptions& options, PredictStats* stats = nullptr);

}  // namespace reweave
