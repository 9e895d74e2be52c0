#include "explorer/campaign/run_judge.h"

#include <filesystem>
#include <utility>

#include "explorer/campaign/failure_store.h"

namespace reweave {

namespace fs = std::filesystem;

RunJudge::RunJudge(const CampaignOptions& options, const ExpectedEndings& expected,
                   std::shared_ptr<const HeldGoals> held)
    : options_(options), expected_(expected), held_(std::move(held)) {
  if (options_.races) races_.emplace();
}

// True if the run did not keep the assumptions: they were given up, or the run failed under the fair schedule, which
// ignores them.
bool RunJudge::is_not_held(const RunResult& run) const {
  if (held_ == nullptr || run.called_off) return false;
  const bool left = run.fair_from != 0 && run.failed() && run.outcome != wire::OutcomeKind::kHang;
  return run.guide.held_let_go != 0 || left;
}

// Only a replay shows a run's output and its races, so a check costs one replay for each run that passes.
RunResult RunJudge::judge(RunResult run, bool for_races, const Departure& departure) {
  expected_.judge(run);
  if (is_not_held(run)) {
    run.outcome = wire::OutcomeKind::kLeftRecording;
    run.text = kNotHeld;
    return run;
  }
  const bool checks = !options_.check.empty(), examines = for_races && races_;
  if ((!checks && !examines) || run.called_off || run.outcome != wire::OutcomeKind::kPassed) return run;
  const std::string path = (fs::path(options_.output) / "run-to-check").string();
  save_run(options_.recording, departure, run, options_.strategy, path);
  if (checks && !output_passes(path, options_.check)) {
    run.outcome = wire::OutcomeKind::kCheckFailed;
    run.text = "the check failed: " + options_.check;
  } else if (examines) {
    races_->judge(run, path);
  }
  fs::remove_all(path);
  return run;
}

}  // namespace reweave
