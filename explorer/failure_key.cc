#include "explorer/failure_key.h"

namespace reweave {

std::uint64_t failure_site(const RunResult& run, const Places& places) {
  const Observation& observed = run.observed;
  if (observed.empty() || run.outcome == wire::OutcomeKind::kDeadlock || run.outcome == wire::OutcomeKind::kHang)
    return 0;
  const ThreadId last = observed[observed.size() - 1].thread;
  for (std::size_t i = observed.size(); i-- > 0;)
    if (observed[i].thread == last && places.in_program(observed[i].pc)) return observed[i].pc;
  return 0;
}

std::pair<std::uint64_t, std::uint64_t> racing_pair(const Observation& run) {
  for (std::size_t i = 0; i < run.size(); i++) {
    if (!run.preempted(i)) continue;
    std::size_t back = i;
    while (back < run.size() && run[back].thread != run[i].from) back++;
    if (back == run.size()) continue;
    for (std::size_t k = back; k-- > i;)
      if (dependent(run[k], run[back])) return {run[back].pc, run[k].pc};
  }
  return {0, 0};
}

}  // namespace reweave
