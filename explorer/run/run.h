// One explored run: the request and the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "explorer/run/observation.h"
#include "explorer/strategies/goals.h"
#include "formats/wire.h"

namespace reweave {

struct Manifest;

// Sites of plain accesses that need not be schedule points, and sites that must remain schedule points even if they
// have the same hash as one of the others (quiet_slot in recorder/observation.h).
struct QuietSites {
  std::vector<std::uint64_t> quiet;
  std::vector<std::uint64_t> loud;
};

// Orders and regions that a run enforces under every policy (explorer/strategies/guided.cc).
struct HeldGoals {
  std::vector<OrderGoal> orders;
  std::vector<RegionGoal> regions;
};

// A run to make, and its schedule. `goal` is the policy's data (explorer/strategies/goals.h).
struct RunRequest {
  std::string policy;
  std::uint64_t seed = 0;
  std::uint64_t inputs = 0;  // seed of the values that the program asks for (reweave::choose); 0: each is 0
  std::uint64_t depth = 3;
  std::uint64_t length = 1000;  // schedule points expected
  std::vector<std::byte> goal;
  // Schedule points under the policy. A run that has not ended by then continues under a fair schedule for `fair_limit`
  // more points (0: the same number), after which it counts as hanging.
  std::uint64_t step_limit = 5'000'000;
  std::uint64_t fair_limit = 0;
  bool observe = false;  // RunResult::observed is wanted even if the run passes
  // Null: every access is a schedule point.
  std::shared_ptr<const QuietSites> quiet;
  std::shared_ptr<const HeldGoals> held;  // null: nothing
  bool own_quiet = false;                 // `quiet` is the search's own choice; otherwise the campaign may set it
  std::string source;                     // the origin of the request, for people; empty: the policy's name
  std::uint64_t stands_for = 1;           // if it fails: the number of runs with this end that it represents
};

struct RunResult {
  wire::OutcomeKind outcome = wire::OutcomeKind::kPassed;
  int wait_status = 0;
  std::string text;                // the runtime's message, if it ended the run
  std::vector<std::byte> records;  // the run's records, from main on
  std::uint64_t steps = 0;         // schedule points executed
  std::uint64_t fair_from = 0;     // step at which the fair schedule began, counted as in SwitchRecord; 0: it did not
  WitnessProgress witness = {};    // progress of the policy `witness`
  GuideProgress guide = {};        // result of the policy `guided`, and of `held`
  double seconds = 0;              // duration
  std::vector<std::string> races;  // races found, if runs are examined for them (explorer/run/race_check.h)
  bool called_off = false;         // stopped before its end because the time was up: the other fields mean nothing
  Observation observed;

  bool failed() const {
    return outcome != wire::OutcomeKind::kPassed && outcome != wire::OutcomeKind::kLeftRecording &&
           outcome != wire::OutcomeKind::kUnsupported && outcome != wire::OutcomeKind::kDiverged;
  }
};

// The outcome, wait status and text with which a recorded run ended.
RunResult recorded_end(const Manifest& manifest);

// The text of a run that was ended because the only thread that could run computed for ten seconds without reaching a
// schedule point.
inline constexpr const char* kNoSchedulePoint = "hang: no schedule point for 10 seconds";

// True if two runs failed alike: the same outcome and status, and the same report except for addresses and thread
// numbers.
bool same_failure(const RunResult& a, const RunResult& b);
// The outcome in one line, for people.
std::string describe_outcome(const RunResult& run);

}  // namespace reweave
