#include "explorer/fixed/fix_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "explorer/campaign/witness.h"
#include "explorer/run/guide.h"

namespace reweave {

namespace {

std::string text_of(const OldCandidate& candidate) {
  std::string text;
  for (const OldStep& step : candidate.steps) text += (text.empty() ? "" : " before ") + step.place;
  return text;
}

}  // namespace

FixRuns::FixRuns(const OldFailure& old, Places& places) : old_(old), map_(places) {
  for (std::size_t i = 0; i < std::min(old.candidates.size(), kMostTriedPairs); i++) add_pair(old.candidates[i]);
  add_schedule();
}

std::optional<Arrival> FixRuns::find(const OldStep& step) {
  const std::optional<std::uint64_t> pc = map_.find(step);
  if (!pc) return {};
  return Arrival{*pc, step.number, step.thread, 0};
}

// Adds runs with each step before the next, in otherwise random schedules. Threads are held before the step itself and,
// in as many other runs, before they take the locks that they held there in the old run.
void FixRuns::add_pair(const OldCandidate& candidate) {
  TriedPair pair;
  pair.text = text_of(candidate);
  std::vector<Arrival> steps, entries;
  for (std::size_t i = 0; i < candidate.steps.size(); i++) {
    const std::optional<Arrival> step = find(candidate.steps[i]);
    if (!step) break;
    steps.push_back(*step);
    const std::optional<Arrival> entry = candidate.entries[i] ? find(*candidate.entries[i]) : std::nullopt;
    entries.push_back(entry.value_or(*step));
  }
  pair.found = steps.size() == candidate.steps.size();
  pairs_.push_back(std::move(pair));
  if (!pairs_.back().found) return;
  add_orders(steps, steps);
  if (entries != steps) add_orders(steps, entries);
}

void FixRuns::add_orders(const std::vector<Arrival>& steps, const std::vector<Arrival>& held) {
  Guide guide = at_random();
  for (std::size_t i = 0; i + 1 < steps.size(); i++) {
    // The thread of the block's end already executed its begin, and may still hold the lock from there.
    const bool is_end = steps.size() == 3 && i == 1;
    guide.orders.push_back({steps[i], is_end && held[2] == held[0] ? steps[2] : held[i + 1]});
  }
  for (std::uint64_t seed = 1; seed <= kPairRuns; seed++) {
    RunRequest request = request_of(guide, seed);
    request.own_quiet = true;  // each access is a schedule point
    request.source = "the old failure's order of events";
    requests_.push_back(std::move(request));
    pair_of_.push_back(pairs_.size() - 1);
  }
}

// Adds a run with the old schedule, as turns of threads. Each turn ends with the last of its steps whose code exists in
// the new build.
void FixRuns::add_schedule() {
  // By thread and code: the number of arrivals at the end of the last turn that ended there.
  std::map<std::pair<ThreadId, std::uint64_t>, std::uint32_t> reached;
  for (std::size_t at = 0; at < old_.schedule.size();) {
    const ThreadId thread = old_.schedule[at].thread;
    std::optional<Arrival> last;
    for (; at < old_.schedule.size() && old_.schedule[at].thread == thread; at++)
      if (const std::optional<Arrival> step = find(old_.schedule[at])) last = step;
    schedule_.turns++;
    if (!last) continue;
    std::uint32_t& before = reached[{thread, last->pc}];
    turns_.push_back({thread, last->pc, last->number > before ? last->number - before : 1});
    before = last->number;
  }
  schedule_.found = turns_.size();
  if (turns_.empty()) return;
  RunRequest request = witness_request(turns_);
  if (request.goal.size() > kGoalBytes) return;
  request.own_quiet = true;
  request.source = "the old failure's schedule";
  requests_.push_back(std::move(request));
}

void FixRuns::learn(const std::vector<GivenEnd>& ends, Places& places) {
  for (std::size_t i = 0; i < ends.size(); i++) {
    const GivenEnd& end = ends[i];
    if (i >= pair_of_.size()) {
      RunResult run;
      run.witness = end.witness;
      schedule_.made = end.examined;
      schedule_.failed = end.failed;
      const std::uint64_t came_to = std::min<std::uint64_t>(end.witness.next, turns_.size());
      schedule_.followed = came_to - std::min<std::uint64_t>(end.witness.skipped, came_to);
      schedule_.departure = tell_departure(run, turns_, places);
      continue;
    }
    TriedPair& pair = pairs_[pair_of_[i]];
    if (!end.examined || end.guide.let_go != 0) {
      pair.infeasible++;  // a failure is kept, but does not count for the order
      continue;
    }
    pair.runs++;
    pair.failed += end.failed ? 1 : 0;
  }
}

}  // namespace reweave
