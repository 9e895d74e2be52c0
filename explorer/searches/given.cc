#include "explorer/searches/given.h"

namespace reweave {

std::optional<RunRequest> GivenRuns::next() {
  if (next_ == runs_.size()) return {};
  return runs_[next_++];
}

void GivenRuns::learn(const RunRequest&, const RunResult& run) {
  GivenEnd end;
  end.failed = run.failed();
  end.examined = end.failed || run.outcome == wire::OutcomeKind::kPassed;
  end.guide = run.guide;
  end.witness = run.witness;
  ends_.push_back(end);
}

}  // namespace reweave
