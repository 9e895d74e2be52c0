// The failures of a campaign: which runs show a bug that was not seen before, and what is kept of each bug.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explorer/campaign.h"
#include "explorer/expected_endings.h"
#include "explorer/explain/explanation.h"
#include "explorer/failure_key.h"
#include "explorer/fork_server.h"
#include "explorer/minimise.h"
#include "explorer/places.h"

namespace reweave {

class Failures {
 public:
  // `run` makes a run besides the campaign's, judged by the user's check. All outlive this.
  Failures(const CampaignOptions& options, const ExpectedEndings& expected, Places& places, Runner run)
      : options_(options), expected_(expected), places_(places), run_(std::move(run)) {}

  // Takes note of a run that failed, the campaign's number `number`. Of those that end alike a few are looked at more
  // closely later, for they may have different causes. `how`: what made it fail; `step_limit`: of runs that repeat it.
  void note(const RunResult& run, const RunRequest& request, const std::string& how, std::uint64_t number,
            std::uint64_t step_limit);
  bool none() const { return found_.empty(); }
  std::uint64_t different_ends() const;
  // The same run again, observed at every access; itself if its switches do not make it again, or are too many.
  RunResult observed(const RunResult& run, std::uint64_t step_limit) const;

  // Makes each failure minimal and keeps it as a recording, one of each bug.
  void keep(const Departure& departure);
  // Replays what was kept, each once at least and no more when the time is up; no fork server may live. The failures.
  std::vector<KeptFailure> verify(const std::function<bool()>& time_is_up);

 private:
  // A failing run to look at when the search is over.
  struct Found {
    RunResult run;  // observed if that is possible
    std::uint64_t site;
    RunRequest request;
    std::string how;
    std::uint64_t number;
    std::uint64_t count = 1;  // runs that ended like this one
  };
  struct Known {
    RunResult run;  // as found
    FailureKey key;
    std::size_t kept;  // index of what was kept of it
  };

  bool is_known(const RunResult& run, std::uint64_t site, unsigned samples);
  bool is_found(const RunResult& run);
  std::uint64_t minimise_budget(const RunResult& run) const;
  std::optional<Explanation> explanation_of(const RunResult& run) const;
  void keep_minimal(const Found& found, const Departure& departure);
  void store(const Minimised& smallest, const Found& found, const Departure& departure);
  void name_by_reproduction();
  void tell_stacks(KeptFailure& failure, const RunResult& run) const;

  const CampaignOptions& options_;
  const ExpectedEndings& expected_;
  Places& places_;
  Runner run_;
  std::vector<Found> found_;
  std::vector<Known> known_;
  std::vector<KeptFailure> kept_;
  std::vector<RunResult> kept_runs_;                      // in the order of kept_
  std::vector<std::optional<Explanation>> explanations_;  // likewise; nothing: runs take too long
};

}  // namespace reweave
