// From a trace to ranked findings: runs the analyses, decides feasibility of what they propose, merges and ranks.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "predictor/analysis.h"
#include "predictor/finding.h"
#include "predictor/trace_model.h"

namespace reweave {

class DecisionJournal;

struct PredictOptions {
  std::vector<std::string> analyses =
      {};                       // names of analyses/all.cc; empty = all. Unknown names throw invalid_argument.
  bool keep_order = false;      // look only for reorderings that keep the order of critical sections
  double budget_seconds = 600;  // stop looking after this much time; what was found is returned
  Limits limits = {};
  // Called now and then, from any thread but never at once: groups of the pass that are decided, and all of them.
  std::function<void(const std::string& pass, std::size_t done, std::size_t all)> progress = {};
  std::function<bool()> interrupted = {};  // true: stop looking, as if time were up
  // The place in the source, equal for code of one line: findings with one cause become one. Empty: none do.
  std::function<std::string(std::uint32_t site)> place = {};
  std::function<bool(std::uint32_t site)> asserts = {};  // the code there checks what must hold: going wrong is seen
  DecisionJournal* journal = nullptr;                    // what earlier runs decided, and this one goes on to decide
  bool assume_data_reads = true;  // look for atomicity violations under ReadRule::kUpdatesCarryData, too
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
  bool out_of_time = false;  // or interrupted
  LeftOut left_out;          // because of the limits
  // What could not be decided: neither reported nor ruled out.
  struct Undecided {
    FindingKind kind;
    std::string pattern;
    std::vector<std::uint32_t> sites;
  };
  std::vector<Undecided> undecided;
  std::vector<std::string> unfinished;  // passes that had no time to look at all of the trace
};

// Findings, best first: by score, which says how bad the kind of bug is, how much the code looks as if it were one, and
// whether a crash is likely (a release, null, an assertion); then by the switches that the witness needs beyond the
// trace's own start; then by how near the events are to each other in the trace. Deterministic unless time runs out.
// `stats` may be null.
std::vector<Finding> predict(const TraceModel& model, const PredictOptions& options, PredictStats* stats = nullptr);

}  // namespace reweave
