// Decides whether a run of a campaign failed, by the normal endings, the assumptions, the user's check, and races.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "explorer/campaign/campaign.h"
#include "explorer/run/expected_endings.h"
#include "explorer/run/fork_server.h"
#include "explorer/run/race_check.h"
#include "explorer/strategies/goals.h"

namespace reweave {

// The text of runs in which the assumptions were not feasible; their outcome is kLeftRecording.
constexpr const char* kNotHeld = "the assumption could not be met";

class RunJudge {
 public:
  // `held`: the assumptions; null: nothing is assumed. `options` and `expected` must outlive this object. Throws
  // BadInput if races are asked for and TSAN_OPTIONS cannot be used.
  RunJudge(const CampaignOptions& options, const ExpectedEndings& expected, std::shared_ptr<const HeldGoals> held);

  // `for_races`: look for races, if the campaign asks for them. `departure`: the place where explored runs begin.
  RunResult judge(RunResult run, bool for_races, const Departure& departure);

  // True if the next run of the search should be examined for races.
  bool takes_next() { return races_ && races_->takes_next(); }
  const std::optional<RaceCheck>& races() const { return races_; }

 private:
  bool is_not_held(const RunResult& run) const;

  const CampaignOptions& options_;
  const ExpectedEndings& expected_;
  std::shared_ptr<const HeldGoals> held_;
  std::optional<RaceCheck> races_;
};

}  // namespace reweave
