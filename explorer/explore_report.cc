#include "explorer/explore_report.h"

#include <fmt/format.h>

#include <cstring>

#include <nlohmann/json.hpp>

#include "explorer/campaign/campaign_report.h"
#include "explorer/campaign/failure_json.h"
#include "formats/base/json_text.h"
#include "formats/base/terminal.h"
#include "formats/trace/traceinfo.h"

namespace reweave {

namespace {

using nlohmann::json;

std::vector<std::string> summary_lines(const ExploreReport& report) {
  return summary_of(report.result, report.options, fmt::format("--seconds {}", report.options.seconds));
}

std::string verdict_text(const CandidateVerdict& verdict) {
  return fmt::format("candidate {} ({}): {}; {}\n", verdict.number, name_of(verdict.kind), verdict.how,
                     verdict.failed ? "the run failed: " + verdict.outcome : "the run " + verdict.outcome);
}

json verdict_json(const CandidateVerdict& verdict) {
  return {{"number", verdict.number},
          {"kind", name_of(verdict.kind)},
          {"how", verdict.how},
          {"failed", verdict.failed},
          {"outcome", verdict.outcome}};
}

}  // namespace

std::string explore_text(const ExploreReport& report) {
  std::string text;
  for (const CandidateVerdict& verdict : report.result.verdicts) text += verdict_text(verdict);
  for (const std::string& line : summary_lines(report)) text += line + "\n";
  if (report.interrupted != 0)
    text += fmt::format("interrupted by SIG{}: everything found so far is kept\n", sigabbrev_np(report.interrupted));
  for (const KeptFailure& failure : report.result.failures)
    if (failure.reproduced())
      text += styled(Style::kFailure, fmt::format("{}: {}", failure.path, failure.what)) + "\n" + details_of(failure);
  for (const KeptFailure& failure : report.result.failures)
    if (!failure.reproduced())
      text += fmt::format("not reproduced, {} of {} replays: {}: {}\n  found by {} in run {}\n", failure.verified,
                          failure.replays, failure.path, failure.what, failure.how, failure.found_at);
  for (const KeptFailure& run : report.result.suspected)
    text += styled(Style::kFailure, suspected_text(run)) + "\n" + details_of(run);
  return text;
}

std::string explore_json(const ExploreReport& report) {
  const CampaignResult& result = report.result;
  const CampaignProgress& progress = result.progress;
  json whole = {{"format", "reweave-explore"},
                {"version", 1},
                {"reweave", REWEAVE_VERSION},
                {"status", report.status},
                {"recording", report.options.recording},
                {"output", report.options.output},
                {"strategy", report.options.strategy},
                {"seed", report.options.seed},
                {"runs", progress.runs},
                {"examined", progress.examined()},
                {"failed", progress.failed},
                {"left_recording", progress.left_recording},
                {"not_kept", progress.not_kept},
                {"unfaithful", progress.unfaithful},
                {"not_held", progress.not_held},
                {"seconds", progress.seconds},
                {"accesses", result.saw_accesses},
                {"interrupted", report.interrupted},
                {"out_of_time", result.out_of_time},
                {"gave_up", result.gave_up},
                {"one_schedule", result.one_schedule},
                {"left_for", result.left_for},
                {"not_kept_for", result.not_kept_for},
                {"summary", summary_lines(report)},
                {"candidates", json::array()},
                {"failures", json::array()},
                {"suspected", json::array()}};
  for (const CandidateVerdict& verdict : result.verdicts) whole["candidates"].push_back(verdict_json(verdict));
  for (const KeptFailure& failure : result.failures) whole["failures"].push_back(failure_json(failure));
  for (const KeptFailure& run : result.suspected) whole["suspected"].push_back(failure_json(run));
  return json_text(whole) + "\n";
}

}  // namespace reweave
