// One explored run: what is asked for and what came of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "explorer/observation.h"
#include "explorer/strategies/goals.h"
#include "formats/wire.h"

namespace reweave {

// Sites of plain accesses that need not be schedule points, and those that must stay some: the target knows them by a
// hash (recorder/observation.h).
struct QuietSites {
  std::vector<std::uint64_t> quiet;
  std::vector<std::uint64_t> loud;
};

// Whom to schedule. `goal` is the policy's data (explorer/strategies/goals.h).
struct RunRequest {
  std::string policy;
  std::uint64_t seed = 0;
  std::uint64_t depth = 3;
  std::uint64_t length = 1000;  // schedule points expected
  std::vector<std::byte> goal;
  // Schedule points under the policy. A run that has not ended by then goes on under a fair schedule, for so many more
  // points (0: as many), after which it hangs.
  std::uint64_t step_limit = 5'000'000;
  std::uint64_t fair_limit = 0;
  bool observe = false;  // RunResult::observed is wanted even if the run passes
  // Null: every access is a schedule point.
  std::shared_ptr<const QuietSites> quiet;
  bool own_quiet = false;  // `quiet` is the search's own choice; otherwise the campaign may set it
  std::string source;      // what proposed the run, for people; empty: the policy's name says it
};

struct RunResult {
  wire::OutcomeKind outcome = wire::OutcomeKind::kPassed;
  int wait_status = 0;
  std::string text;                // of the runtime, if it ended the run
  std::vector<std::byte> records;  // what the run logged, from main on
  std::uint64_t steps = 0;         // schedule points executed
  std::uint64_t fair_from = 0;     // step at which the fair schedule began, as SwitchRecord counts; 0: it did not
  WitnessProgress witness = {};    // how far the policy `witness` came
  GuideProgress guide = {};        // what the policy `guided` had to do
  double seconds = 0;              // that it took
  std::vector<std::string> races;  // that it showed, where runs are looked at for them (explorer/race_check.h)
  bool called_off = false;         // before its end, for the time was up: the rest says nothing
  Observation observed;

  bool failed() const {
    return outcome != wire::OutcomeKind::kPassed && outcome != wire::OutcomeKind::kLeftRecording &&
           outcome != wire::OutcomeKind::kUnsupported && outcome != wire::OutcomeKind::kDiverged;
  }
};

// The text of a run that was ended because its only thread that could run computed for ten seconds and never came to a
// schedule point.
inline constexpr const char* kNoSchedulePoint = "hang: no schedule point for 10 seconds";

// True if two runs failed alike: the same outcome, status, and the same report but for addresses and
// numbers of threads.
bool same_failure(const RunResult& a, const RunResult& b);
// A line for people.
std::string describe_outcome(const RunResult& run);

}  // namespace reweave
