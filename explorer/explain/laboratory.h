// Makes and counts the runs that find out why one run fails.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "explorer/campaign/minimise.h"
#include "explorer/explain/rate.h"
#include "explorer/run/guide.h"
#include "explorer/run/run.h"
#include "explorer/run/switches.h"

namespace reweave {

// Makes the runs and returns their results in the same order; fewer if the time is up.
using Batch = std::function<std::vector<RunResult>(const std::vector<RunRequest>&)>;

// Makes single runs; a run for which no time is left is marked as called off.
Runner one_at_a_time(Batch batch);

class Laboratory {
 public:
  // `failing`: the failure to look for. A run that becomes several times as long continues under a fair schedule. All
  // runs get the failing run's values of reweave::choose (RunRequest::inputs). `batch` and `failing` must outlive this.
  Laboratory(const Batch& batch, const RunResult& failing)
      : batch_(batch), failing_(failing), inputs_(switches_of(failing).inputs) {}

  // Called for each counted run that was observed.
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
