// Reduces all findings to the list that is shown: one entry per cause, with a share for each kind of bug.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "predictor/model/trace_model.h"
#include "predictor/witness/finding.h"

namespace reweave {

// Findings about the same variable at the same places of the source are merged into the first of them, with the sum of
// their counts and a remark that names the other patterns. Order violations and deadlocks are merged only with the same
// pattern, because there different patterns are different bugs. For `place` see predict.h.
void merge_causes(const TraceModel& model, const std::function<std::string(std::uint32_t site)>& place,
                  std::vector<Finding>& findings);

// Keeps the first `most` of `findings`, but at least an equal share of each kind if there are that many. 0: keeps all.
// Returns the number left out.
std::uint64_t keep_best(std::size_t most, std::vector<Finding>& findings);

}  // namespace reweave
