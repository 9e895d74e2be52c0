// Converts findings to candidates (formats/trace/candidates.h), from which an explorer can confirm them.
#pragma once

#include <span>

#include "formats/trace/candidates.h"
#include "predictor/detectors/detector.h"
#include "predictor/model/trace_input.h"
#include "predictor/report/report.h"
#include "predictor/witness/finding.h"

namespace reweave {

class CodeNames;

// Reads the trace again. `code` is null for traces without code (STD text): a site's offset is then its location.
CandidateSet candidates_of(TraceInput& input, const TraceModel& model, std::span<const Finding> findings,
                           CodeNames* code, const Names& names);

// The same without witnesses; does not read the trace again.
CandidateSet findings_of(const TraceInput& input, const TraceModel& model, std::span<const Finding> findings,
                         CodeNames* code, const Names& names);

// The same for the reports of a streaming detector.
CandidateSet reports_of(const TraceInput& input, std::span<const RaceReport> reports, CodeNames* code,
                        const Names& names);

}  // namespace reweave
