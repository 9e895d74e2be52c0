// The failures of a campaign: decides which runs show a new bug, and keeps one recording of each bug.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explorer/campaign/campaign.h"
#include "explorer/campaign/failure_key.h"
#include "explorer/campaign/found_failure.h"
#include "explorer/campaign/minimise.h"
#include "explorer/explain/explanation.h"
#include "explorer/run/expected_endings.h"
#include "explorer/run/fork_server.h"
#include "explorer/words/places.h"

namespace reweave {

// Writes the description of the failure to story.txt in the folder of its recording. Throws Error.
void write_story(const std::string& folder, const KeptFailure& failure);

class Failures {
 public:
  // `name`: the beginning of the names of the recordings. `run` makes a run that does not count as one of the campaign,
  // and judges it, also by the user's check. The references must outlive this object.
  Failures(std::string name, const CampaignOptions& options, const ExpectedEndings& expected, Places& places,
           Runner run)
      : name_(std::move(name)), options_(options), expected_(expected), places_(places), run_(std::move(run)) {}

  // Notes a failed run, number `number` of the campaign. A few of the runs that end alike are examined later, because
  // they may have different causes. `how`: the search or the candidate that made the run; `step_limit`: limit for runs
  // that repeat it.
  void note(const RunResult& run, const RunRequest& request, const std::string& how, std::uint64_t number,
            std::uint64_t step_limit);
  bool none() const { return found_.empty(); }
  // The noted failures in a form with which another process can repeat them.
  std::vector<FoundFailure> found() const;
  std::uint64_t different_ends() const;
  // Repeats the run and observes it at every access. Returns `run` itself if its switches do not reproduce it or are
  // too many for a request.
  RunResult observed(const RunResult& run, std::uint64_t step_limit) const;

  // Minimises the failures noted since the last call and keeps one recording of each bug.
  void keep(const Departure& departure);
  // Replays each kept recording at least once, and more often while there is time. No fork server may exist. Returns
  // the failures.
  std::vector<KeptFailure> verify(const std::function<bool()>& time_is_up);

 private:
  // A failing run to examine after the search.
  struct Found {
    RunResult run;  // observed if possible
    std::uint64_t site;
    RunRequest request;
    std::string how;
    std::uint64_t number;
    std::uint64_t count = 1;               // runs that ended like this one
    std::optional<std::size_t> kept = {};  // index of the failure kept for it
  };
  struct Known {
    RunResult run;  // as found
    FailureKey key;
    std::size_t kept;  // index in kept_
  };

  bool is_known(const RunResult& run, std::uint64_t site, unsigned samples, std::uint64_t count);
  bool is_found(const RunResult& run, std::uint64_t count);
  void count_again(Found& found, std::uint64_t count);
  std::uint64_t minimise_budget(const RunResult& run) const;
  std::optional<Explanation> explanation_of(const RunResult& run) const;
  std::size_t keep_minimal(const Found& found, const Departure& departure);
  void store(const Minimised& smallest, const Found& found, const Departure& departure);
  void name_by_reproduction();
  // Describes the stacks of a memory error or race. Returns the name of the block (block_text), or nothing.
  std::string tell_stacks(KeptFailure& failure, const RunResult& run) const;

  const std::string name_;
  const CampaignOptions& options_;
  const ExpectedEndings& expected_;
  Places& places_;
  Runner run_;
  std::vector<Found> found_;
  std::vector<Known> known_;
  std::vector<KeptFailure> kept_;
  std::vector<RunResult> kept_runs_;                      // in the order of kept_
  std::vector<std::optional<Explanation>> explanations_;  // in the same order; none if runs take too long
};

}  // namespace reweave
