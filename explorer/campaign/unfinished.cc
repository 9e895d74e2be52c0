#include "explorer/campaign/unfinished.h"

#include <algorithm>
#include <map>

#include "explorer/campaign/run_judge.h"

namespace reweave {

// Calls `visit` with the thread and the step of each operation. The first code of a thread is 0.
template <typename Visit>
void Unfinished::visit_steps(const Observation& run, const Visit& visit) const {
  std::map<ThreadId, std::uint64_t> latest;
  for (std::size_t i = 0; i < run.size(); i++) {
    if (run.resumed(i)) continue;
    std::uint64_t& from = latest[run[i].thread];
    visit(run[i].thread, Step{from, run[i].pc});
    if (places_.in_program(run[i].pc)) from = run[i].pc;
  }
}

bool Unfinished::is_suspected(const RunResult& run) const {
  const ThreadId last = run.observed[run.observed.size() - 1].thread;
  bool suspected = false;
  visit_steps(run.observed, [&](ThreadId thread, const Step& step) {
    suspected = suspected || (thread == last && !passed_.contains(step));
  });
  return suspected;
}

void Unfinished::learn(const RunResult& run, const RunRequest& request, const std::string& how, std::uint64_t number) {
  if (run.observed.empty() || run.observed.truncated()) return;
  // Most programs never leave, and their runs need not be looked at.
  if (run.outcome == wire::OutcomeKind::kPassed && !left_.empty())
    visit_steps(run.observed, [&](ThreadId, const Step& step) { passed_.insert(step); });
  if (run.outcome != wire::OutcomeKind::kLeftRecording || run.text == kNotHeld || !is_suspected(run)) return;
  const auto same = std::ranges::find_if(left_, [&](const Run& other) { return other.run.text == run.text; });
  if (same == left_.end() && left_.size() < kMostRuns)
    left_.push_back({run, request, how, number});
  else if (same != left_.end() && !is_suspected(same->run))
    *same = {run, request, how, number};
}

std::vector<const Unfinished::Run*> Unfinished::suspected() const {
  std::vector<const Run*> runs;
  for (const Run& each : left_)
    if (!passed_.empty() && is_suspected(each.run)) runs.push_back(&each);
  return runs;
}

}  // namespace reweave
