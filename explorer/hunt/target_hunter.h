// Hunts one program: records a run that passes, and searches from there for one that fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "explorer/expected_endings.h"
#include "explorer/hunt/failure_place.h"
#include "explorer/hunt/hunt_result.h"
#include "predictor/progress_line.h"

namespace reweave {

struct HuntOptions {
  double seconds = 180;    // of the whole hunt
  std::uint64_t runs = 0;  // of the search of each target; 0: as many as the time allows
  bool all = false;        // go on after the first failure that replays
  unsigned jobs = 1;
  std::string expected;  // endings that are normal; empty: each target's own
};

class TargetHunter {
 public:
  using Clock = std::chrono::steady_clock;

  // `hunt` has what was done before, and gets what is done now. `folder` is the target's own, and exists. `save` is
  // called when something is worth keeping.
  TargetHunter(const HuntOptions& options, TargetHunt& hunt, std::string folder, Clock::time_point deadline,
               std::function<void()> save);

  // Ends when the time is up, the first failure is found, or we are interrupted. What cannot be searched is the
  // target's problem.
  void run();

 private:
  struct Recorded {
    RunResult run;
    std::uint64_t processes = 0;
    std::string programs;  // that ran, for people
  };

  static constexpr const char* kPassingFolder = "passing";
  static constexpr const char* kRecordingFolder = "recording";  // of a run that is being recorded

  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }
  std::string expected_endings() const;
  double seconds_left() const;
  bool is_over() const;
  bool is_enough() const;
  void remove_leftovers() const;

  bool record_passing();
  // Records one run; false if there is nothing to use: then the problem says why.
  bool record(std::uint64_t seed, bool chaos, Recorded& recorded);
  bool fail(std::string problem, int status);
  std::string message_of_recorder() const;
  void keep_recorded(const RunResult& run, const std::string& how);
  std::string free_name(bool reproduced) const;

  void search();
  CampaignOptions campaign_options() const;
  CampaignResult campaign(const CampaignOptions& options);
  void take_over(const CampaignResult& result, const CampaignOptions& options);
  void take_over(const KeptFailure& failure, const SourcePaths& sources);
  void record_unfairly();
  void explain(const std::string& recording);
  void show(const std::string& doing, std::uint64_t runs, double seconds);

  const HuntOptions& options_;
  TargetHunt& hunt_;
  const std::string folder_;
  const Clock::time_point deadline_;
  const std::function<void()> save_;
  const ExpectedEndings expected_;
  bool found_ = false;  // a failure that replays, this time
  ProgressLine progress_;
};

}  // namespace reweave
