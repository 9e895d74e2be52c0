// The report on whether a new build still has an old failure, as JSON and as text. docs/fix-format.md describes the
// JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "explorer/campaign/campaign.h"
#include "explorer/fixed/fix_runs.h"
#include "explorer/fixed/old_failure.h"

namespace reweave {

struct FoundAgain {
  std::string path, what, last_words;
  std::string how;
  bool same = false;  // it is the old failure
};

struct FixReport {
  const OldFailure& old;
  std::string recording;       // of the new build
  std::uint64_t recorded = 0;  // runs recorded to get it, if a program was given
  std::uint64_t recorded_failed = 0;
  std::vector<TriedPair> pairs = {};
  TriedSchedule schedule = {};
  std::string strategy = {};
  CampaignProgress search = {};
  bool out_of_time = false;
  std::vector<FoundAgain> failures = {};  // failures that replay
};

// The report with its verdict: "still fails", "moved" (only other failures), "fixed" (nothing failed) or "unknown"
// (nothing failed, but no run of the search could be examined). Throws CheckFailed if a statement does not follow from
// the counts.
nlohmann::json fix_json(const FixReport& report);
// The first statement that does not follow from the report's counts; nothing if all do.
std::optional<std::string> check_fix(const nlohmann::json& report);
std::string fix_text(const nlohmann::json& report);
int fix_status(const nlohmann::json& report);

}  // namespace reweave
