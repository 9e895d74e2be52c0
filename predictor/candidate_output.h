// Findings as candidates (formats/candidates.h): what an explorer needs to confirm them.
#pragma once

#include <span>

#include "formats/candidates.h"
#include "predictor/finding.h"
#include "predictor/report.h"
#include "predictor/trace_input.h"

namespace reweave {

class CodeNames;

// Reads the trace once more. `code` is null for traces without code (STD text): a site's offset is then its location.
CandidateSet candidates_of(TraceInput& input, const TraceModel& model, std::span<const Finding> findings,
                           CodeNames* code, const Names& names);

}  // namespace reweave
