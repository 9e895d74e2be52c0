// From all findings to the list that is shown: one entry for each cause, and a place for each kind of bug.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "predictor/finding.h"
#include "predictor/trace_model.h"

namespace reweave {

// Findings about the same variable at the same places of the source become one, the first of them, with the sum of
// their counts and a remark that says as what else it was seen. Order violations and deadlocks do so only with the same
// pattern, for those are bugs of their own. `place`: predict.h.
void merge_causes(const TraceModel& model, const std::function<std::string(std::uint32_t site)>& place,
                  std::vector<Finding>& findings);

// Keeps the first `most` of `findings`, but of each kind at least an equal share if there are so many. 0: all. Returns
// how many were left out.
std::uint64_t keep_best(std::size_t most, std::vector<Finding>& findings);

}  // namespace reweave
