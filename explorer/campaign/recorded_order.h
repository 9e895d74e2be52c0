// Detects failures that come from the recording and not from the program.
//
// In an explored run the recording answers for the surroundings (time, other programs), although these might have
// answered differently. If the recorded run passed but its own order fails when it is repeated, runs that fail in the
// same way say nothing about the program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "explorer/campaign/minimise.h"
#include "explorer/run/fork_server.h"
#include "explorer/run/run.h"
#include "explorer/words/places.h"

namespace reweave {

class RecordedOrder {
 public:
  // `recorded_passed`: the recorded run ended normally; otherwise nothing is unfaithful. `places` must outlive this.
  RecordedOrder(std::string recording, bool recorded_passed, Places& places)
      : recording_(std::move(recording)), recorded_passed_(recorded_passed), places_(places) {}

  // The campaign's functions and settings for making runs.
  struct Means {
    Departure departure;  // where explored runs begin in the recording
    std::uint64_t step_limit = 0;
    Runner make;
    std::function<RunResult(const RunResult& run)> observed;  // repeats a run, observed at every access
  };

  // True if `run`, made for `request`, fails in the same way as the repeated recorded order, so that its own schedule
  // is not the cause. Repeats the recorded order when first needed.
  bool explains(const RunResult& run, const RunRequest& request, const Means& means);
  // Repetitions that were unfaithful: 0 or 1.
  std::uint64_t unfaithful() const { return repetition_ && repetition_->unfaithful ? 1 : 0; }

 private:
  struct Repetition {
    RunResult run;
    bool unfaithful = false;  // it failed, and followed the recorded order up to its end
  };
  const Repetition& repetition(const Means& means);

  std::string recording_;
  bool recorded_passed_;
  Places& places_;
  std::optional<Repetition> repetition_;
};

}  // namespace reweave
