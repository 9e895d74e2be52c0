#include "explorer/searches/repeats.h"

#include <utility>

namespace reweave {

std::optional<RunRequest> Repeats::next() {
  while (asked_ < failures_.size()) {
    const FoundFailure& failure = failures_[asked_++];
    RunRequest request = request_of(failure.switches);
    if (request.goal.size() > kGoalBytes) {
      missed_.push_back(asked_ - 1);
      continue;
    }
    request.observe = true;
    request.own_quiet = true;  // each access is a schedule point, as in the list of switches
    request.source = failure.how;
    request.stands_for = failure.count;
    under_way_.push_back(asked_ - 1);
    return request;
  }
  return {};
}

void Repeats::learn(const RunRequest&, const RunResult& result) {
  const std::size_t index = under_way_[learned_++];
  if (!result.failed()) missed_.push_back(index);
}

}  // namespace reweave
