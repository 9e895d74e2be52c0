// `explore --races`: looks at runs as `record --races` does, and has races count as failures.
//
// A run's trace is made by a replay, which takes as long as some dozens of runs. So the first runs are all looked at,
// and then some: which, depends on their number only, so that a campaign with the same seed makes the same runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explorer/run.h"
#include "predictor/races/examine.h"

namespace reweave {

class RaceCheck {
 public:
  // Throws BadInput if what TSAN_OPTIONS asks for cannot be used.
  RaceCheck();

  // The search's next run is to be looked at.
  bool takes_next();
  // Looks at the run in the recording at `path`; what is found becomes the run's outcome.
  void judge(RunResult& run, const std::string& path);

  std::uint64_t looked_at() const { return looked_at_; }  // runs of the search
  bool sees_accesses() const { return sees_accesses_; }   // of those looked at, or none was

 private:
  RaceOptions options_;
  std::uint64_t asked_ = 0, looked_at_ = 0;
  bool sees_accesses_ = true;
};

// What of `run`, if it showed the race that `wanted` is about, is said first.
void tell_same_race(RunResult& run, const RunResult& wanted);

// ThreadSanitizer's reports of the recording, of the races with that key.
struct RaceOfRecording {
  bool found = false;
  std::string report;
};
RaceOfRecording race_of_recording(const std::string& path, const std::string& key);

}  // namespace reweave
