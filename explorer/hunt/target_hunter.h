// Hunts one program: records a passing run, and searches from there for a failing one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "explorer/hunt/failure_place.h"
#include "explorer/hunt/hunt_result.h"
#include "explorer/run/expected_endings.h"
#include "formats/base/progress_line.h"

namespace reweave {

struct HuntOptions {
  double seconds = 180;    // for the whole hunt
  std::uint64_t runs = 0;  // per target's search; 0: as many as the time allows
  bool all = false;        // continue after the first failure that replays
  unsigned jobs = 1;
  bool all_frames = false;  // CampaignOptions::all_frames
  std::string expected;     // normal endings; empty: each target's own
  std::uint64_t seed = 1;   // of the first recording and search; later ones have later seeds
};

class TargetHunter {
 public:
  using Clock = std::chrono::steady_clock;

  // `hunt` has the results of earlier hunts and receives new ones. `folder` is the target's own folder, which exists.
  // `save` is called when there are results worth saving.
  TargetHunter(const HuntOptions& options, TargetHunt& hunt, std::string folder, Clock::time_point deadline,
               std::function<void()> save);

  // Ends when the time is up, the first failure is found, or the process is interrupted. If the target cannot be
  // searched, the reason becomes its `problem`.
  void run();
  // Records a passing run if there is none; the first part of run(). False if there is nothing to search, now or at
  // all.
  bool prepare();

 private:
  struct Recorded {
    RunResult run;
    std::uint64_t processes = 0;
    std::string programs;  // programs that ran, for people
  };

  static constexpr const char* kPassingFolder = "passing";
  static constexpr const char* kRecordingFolder = "recording";  // the run being recorded

  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }
  std::string expected_endings() const;
  double seconds_left() const;
  bool is_over() const;
  bool is_enough() const;
  void remove_leftovers() const;

  bool record_passing();
  // Records one run. Returns false if there is no usable recording; unless it was interrupted, `problem` then says why.
  bool record(std::uint64_t seed, bool chaos, Recorded& recorded);
  bool fail(std::string problem, int status);
  std::string message_of_recorder() const;
  bool chose_no_case() const;
  void keep_recorded(const RunResult& run, const std::string& how);
  // A name in the target's folder that is not taken: `kind`, a dash and a number.
  std::string free_name(const std::string& kind) const;

  void search();
  CampaignOptions campaign_options() const;
  CampaignResult campaign(const CampaignOptions& options);
  void take_over(const CampaignResult& result, const CampaignOptions& options);
  void take_over(const KeptFailure& failure, const SourcePaths& sources);
  void record_unfairly();
  void explain(HuntFailure& failure);
  void take_cause(HuntFailure& failure, const nlohmann::json& report);
  void show(const std::string& doing, std::uint64_t runs, double seconds);

  const HuntOptions& options_;
  TargetHunt& hunt_;
  const std::string folder_;
  const Clock::time_point deadline_;
  const std::function<void()> save_;
  const ExpectedEndings expected_;
  bool found_ = false;  // this hunt found a failure that replays
  ProgressLine progress_;
};

}  // namespace reweave
