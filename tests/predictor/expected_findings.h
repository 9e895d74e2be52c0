// The findings that the fronts must report in small traces, from the definition of each pattern and exhaustive search,
// without any filter.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "predictor/model/trace_model.h"

namespace reweave::testing {

using Sites = std::vector<std::uint32_t>;
// By pattern: the sites of the feasible instances, in the order of the bug.
using Expected = std::map<std::string, std::set<Sites>>;

// Returns the findings in `model`, a small trace of two threads in which each event has a site of its own.
Expected expected_findings(const TraceModel& model);
// Returns the deadlocks of three threads in `model`, a small trace of three threads.
Expected expected_cycles(const TraceModel& model);
// Returns only "freed-by-both", which needs code that both threads run. `model` is a small trace of two threads. Within
// a thread, no two events share a site.
Expected expected_frees_by_both(const TraceModel& model);

}  // namespace reweave::testing
