// Whether the order of the recorded run, repeated, ends as the recorded run did.
//
// An explored run is answered by the recording, which cannot tell how the surroundings (time, other programs) would
// have answered otherwise. If the recorded run passed and its own order fails when it is repeated, runs that fail like
// that say nothing about the program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "explorer/fork_server.h"
#include "explorer/minimise.h"
#include "explorer/places.h"
#include "explorer/run.h"

namespace reweave {

class RecordedOrder {
 public:
  // `recorded_passed`: the recorded run ended normally; otherwise nothing is unfaithful. `places` must outlive this.
  RecordedOrder(std::string recording, bool recorded_passed, Places& places)
      : recording_(std::move(recording)), recorded_passed_(recorded_passed), places_(places) {}

  // How runs are made.
  struct Means {
    Departure departure;  // where explored runs begin in the recording
    std::uint64_t step_limit = 0;
    Runner make;
    std::function<RunResult(const RunResult& run)> observed;  // a run, made again and observed at every access
  };

  // The run, which was made for `request`, fails as the recorded order does, so whatever its schedule. That order is
  // repeated when it is needed first.
  bool explains(const RunResult& run, const RunRequest& request, const Means& means);
  // Repetitions that were unfaithful: 0 or 1.
  std::uint64_t unfaithful() const { return repetition_ && repetition_->unfaithful ? 1 : 0; }

 private:
  struct Repetition {
    RunResult run;
    bool unfaithful = false;  // it failed, as far as it came in the recorded order
  };
  const Repetition& repetition(const Means& means);

  std::string recording_;
  bool recorded_passed_;
  Places& places_;
  std::optional<Repetition> repetition_;
};

}  // namespace reweave
