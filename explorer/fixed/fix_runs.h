// Runs of a new build that try to repeat an old failure: with its pairs of events in the failing order, and with its
// schedule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explorer/fixed/line_map.h"
#include "explorer/fixed/old_failure.h"
#include "explorer/run/run.h"
#include "explorer/searches/given.h"
#include "formats/trace/candidates.h"

namespace reweave {

inline constexpr std::size_t kMostTriedPairs = 3;
inline constexpr std::uint64_t kPairRuns = 20;  // for each pair and each way to hold its threads

// The runs tried for one candidate.
struct TriedPair {
  std::string text;        // "deposit (bank.c:27) before deposit (bank.c:23)"
  bool found = false;      // its lines exist in the new build
  std::uint64_t runs = 0;  // examined runs with the order
  std::uint64_t failed = 0;
  std::uint64_t infeasible = 0;  // additional runs: not examined, or the order was not feasible
};
// The run tried for the schedule.
struct TriedSchedule {
  std::uint64_t turns = 0;     // turns of threads in the old run
  std::uint64_t found = 0;     // turns whose code exists in the new build
  std::uint64_t followed = 0;  // found turns that were followed
  bool made = false, failed = false;
  std::string departure;  // where and why the run left the schedule; empty if it did not
};

class FixRuns {
 public:
  FixRuns(const OldFailure& old, Places& places);

  const std::vector<RunRequest>& requests() const { return requests_; }
  // `ends`: the results of requests(), in the same order; there may be fewer.
  void learn(const std::vector<GivenEnd>& ends, Places& places);
  const std::vector<TriedPair>& pairs() const { return pairs_; }
  const TriedSchedule& schedule() const { return schedule_; }

 private:
  void add_pair(const OldCandidate& candidate);
  void add_orders(const std::vector<Arrival>& steps, const std::vector<Arrival>& held);
  void add_schedule();
  std::optional<Arrival> find(const OldStep& step);

  const OldFailure& old_;
  LineMap map_;
  std::vector<TriedPair> pairs_;
  TriedSchedule schedule_;
  std::vector<WitnessTurn> turns_;
  std::vector<RunRequest> requests_;
  std::vector<std::size_t> pair_of_;  // index in pairs_, by request; a request after these is the schedule's
};

}  // namespace reweave
