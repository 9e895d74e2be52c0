// Findings as candidates (formats/candidates.h): what an explorer needs to confirm them.
#pragma once

#include <span>

#include "formats/candidates.h"
#include "predictor/detectors/detector.h"
#include "predictor/finding.h"
#include "predictor/report.h"
#include "predictor/trace_input.h"

namespace reweave {

class CodeNames;

// Reads the trace once more. `code` is null for traces without code (STD text): a site's offset is then its location.
CandidateSet candidates_of(TraceInput& input, const TraceModel& model, std::span<const Finding> findings,
                           CodeNames* code, const Names& names);

// The same without witnesses; the trace is not read again.
CandidateSet findings_of(const TraceInput& input, const TraceModel& model, std::span<const Finding> findings,
                         CodeNames* code, const Names& names);

// What a streaming detector reported.
CandidateSet reports_of(const TraceInput& input, std::span<const RaceReport> reports, CodeNames* code,
                        const Names& names);

}  // namespace reweave
