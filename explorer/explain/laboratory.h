// Runs made to find out why one fails: many at a time, and counted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "explorer/explain/rate.h"
#include "explorer/guide.h"
#include "explorer/minimise.h"
#include "explorer/run.h"
#include "explorer/switches.h"

namespace reweave {

// Makes the runs and gives their results in the same order; fewer if the time is up.
using Batch = std::function<std::vector<RunResult>(const std::vector<RunRequest>&)>;

// Makes single runs; one for which there is no time is called off.
Runner one_at_a_time(Batch batch);

class Laboratory {
 public:
  // `failing`: what counts as failing; runs that are several times as long go on under a fair schedule. Both outlive
  // this.
  // Values that the program asks for (RunRequest::inputs) are in all runs those of the failing one.
  Laboratory(const Batch& batch, const RunResult& failing)
      : batch_(batch), failing_(failing), inputs_(switches_of(failing).inputs) {}

  // Observed runs of them, and no others, are given to `see`.
  using See = std::function<void(const RunResult&, bool failed)>;
  Rate rate(const std::vector<RunRequest>& requests, const See& see = {});
  // `count` runs of the guide with seeds from `seed` on.
  Rate rate(const Guide& guide, std::uint64_t count, std::uint64_t seed, const See& see = {});
  std::vector<RunResult> runs(std::vector<RunRequest> requests);

  bool fails(const RunResult& run) const { return same_failure(run, failing_); }
  std::uint64_t made() const { return made_; }
  bool time_is_up() const { return time_is_up_; }

 private:
  const Batch& batch_;
  const RunResult& failing_;
  const std::uint64_t inputs_;
  std::uint64_t made_ = 0;
  bool time_is_up_ = false;
};

}  // namespace reweave
