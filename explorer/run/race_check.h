// `explore --races`: examines runs as `record --races` does, and counts races as failures.
//
// A run's trace is made by a replay, which takes as long as some dozens of runs. So the first hundred runs are
// examined, and then one in ten. The choice depends only on the number of the run, so that a campaign with the same
// seed makes the same runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explorer/run/run.h"
#include "predictor/races/examine.h"

namespace reweave {

class RaceCheck {
 public:
  // Throws BadInput if TSAN_OPTIONS has a value that cannot be used.
  RaceCheck();

  // True if the search's next run is to be examined.
  bool takes_next();
  // Examines the run in the recording at `path`; a race becomes the run's outcome.
  void judge(RunResult& run, const std::string& path);

  std::uint64_t looked_at() const { return looked_at_; }  // runs of the search
  bool sees_accesses() const {
    return sees_accesses_;
  }  // true if the examined runs showed accesses, or none was examined

 private:
  RaceOptions options_;
  std::uint64_t asked_ = 0, looked_at_ = 0;
  bool sees_accesses_ = true;
};

// If `run` showed the race that `wanted` reports, makes it the run's text.
void tell_same_race(RunResult& run, const RunResult& wanted);

// ThreadSanitizer's reports for the recording, of races with that key.
struct RaceOfRecording {
  bool found = false;
  std::string report;
};
RaceOfRecording race_of_recording(const std::string& path, const std::string& key);

}  // namespace reweave
