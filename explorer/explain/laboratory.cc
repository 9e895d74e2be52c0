#include "explorer/explain/laboratory.h"

#include <algorithm>
#include <utility>

namespace reweave {

Runner one_at_a_time(Batch batch) {
  return [batch = std::move(batch)](const RunRequest& request) {
    std::vector<RunResult> runs = batch({request});
    if (!runs.empty()) return std::move(runs.front());
    RunResult called_off;
    called_off.called_off = true;
    return called_off;
  };
}

std::vector<RunResult> Laboratory::runs(std::vector<RunRequest> requests) {
  constexpr std::uint64_t kLeastSteps = 100'000, kFactor = 4;
  if (time_is_up_) return {};
  // A hang shows after few schedule points.
  const std::uint64_t limit = failing_.fair_from != 0 ? kLeastSteps : std::max(failing_.steps * kFactor, kLeastSteps);
  for (RunRequest& request : requests) {
    request.step_limit = limit;
    request.inputs = inputs_;
  }
  std::vector<RunResult> results = batch_(requests);
  std::erase_if(results, [](const RunResult& run) { return run.called_off; });
  made_ += results.size();
  time_is_up_ = results.size() < requests.size();
  return results;
}

Rate Laboratory::rate(const std::vector<RunRequest>& requests, const See& see) {
  Rate rate;
  for (const RunResult& run : runs(requests)) {
    const bool says_something = run.failed() || run.outcome == wire::OutcomeKind::kPassed;
    if (!says_something || run.guide.let_go != 0) {
      rate.let_go++;
      continue;
    }
    const bool failed = fails(run);
    rate.tried++;
    rate.failed += failed ? 1 : 0;
    rate.other += run.failed() && !failed ? 1 : 0;
    if (see && !run.observed.empty()) see(run, failed);
  }
  return rate;
}

Rate Laboratory::rate(const Guide& guide, std::uint64_t count, std::uint64_t seed, const See& see) {
  std::vector<RunRequest> requests;
  for (std::uint64_t i = 0; i < count; i++) {
    requests.push_back(request_of(guide, seed + i));
    requests.back().observe = static_cast<bool>(see);
  }
  return rate(requests, see);
}

}  // namespace reweave
