#include "explorer/explain/nearest.h"

#include <algorithm>

#include "explorer/campaign/minimise.h"
#include "explorer/campaign/shorter_schedules.h"

namespace reweave {

namespace {

RunRequest observed_request(const SwitchList& list) {
  RunRequest request = request_of(list);
  request.observe = true;
  return request;
}

// Variants of the failing schedule, each with one preemption left out or moved within its thread. The last has none.
std::vector<SwitchList> neighbours(const Observation& run, const SwitchList& list) {
  constexpr std::size_t kMostPreemptions = 40, kMostPlaces = 12;
  std::vector<SwitchList> found;
  const std::vector<StopPoint> points = stop_points(run);
  const std::size_t count = list.preemptions.size();
  for (std::size_t i = count; i-- > 0 && found.size() < kMostPreemptions * kMostPlaces;) {
    SwitchList rest = list;
    rest.preemptions.erase(rest.preemptions.begin() + static_cast<std::ptrdiff_t>(i));
    found.push_back(rest);
    const ScheduleStep& step = list.preemptions[i];
    std::vector<std::uint32_t> ticks;
    for (const StopPoint& point : points)
      if (point.thread == step.thread && point.tick != step.tick) ticks.push_back(point.tick);
    // The nearest on both sides come first.
    std::ranges::stable_sort(
        ticks, {}, [&](std::uint32_t tick) { return tick > step.tick ? tick - step.tick : step.tick - tick; });
    if (ticks.size() > kMostPlaces) ticks.resize(kMostPlaces);
    for (const std::uint32_t tick : ticks) {
      SwitchList moved = list;
      moved.preemptions[i].tick = tick;
      found.push_back(moved);
    }
  }
  found.emplace_back();
  return found;
}

// Tries random schedules. The first few that pass are also minimised.
void try_random_schedules(Laboratory& laboratory, const std::vector<Event>& failing, NearestSearch& search) {
  constexpr std::uint64_t kRuns = 100, kMostPassing = 3, kMinimiseRuns = 300;
  std::vector<RunRequest> requests;
  for (std::uint64_t seed = 1; seed <= kRuns; seed++) {
    RunRequest request;
    request.policy = "random";
    request.seed = seed;
    request.observe = true;
    requests.push_back(request);
  }
  const Runner one = one_at_a_time([&](const std::vector<RunRequest>& request) { return laboratory.runs(request); });
  std::uint64_t passing = 0;
  for (const RunResult& run : laboratory.runs(requests)) {
    keep_nearer(search, run, failing);
    if (run.outcome != wire::OutcomeKind::kPassed || run.observed.empty()) continue;
    if (passing++ < kMostPassing) keep_nearer(search, minimise(one, run, kMinimiseRuns).run, failing);
  }
}

}  // namespace

void keep_nearer(NearestSearch& search, const RunResult& run, const std::vector<Event>& failing) {
  if (run.called_off) return;
  search.tried++;
  if (run.outcome == wire::OutcomeKind::kLeftRecording) search.left++;
  if (run.outcome != wire::OutcomeKind::kPassed) return;
  search.passing++;
  if (run.observed.empty()) return;
  std::vector<EventPair> pairs = reordered(failing, events_of(run.observed));
  if (pairs.empty()) return;  // no visible difference between the two runs
  if (!search.best || pairs.size() < search.best->pairs.size()) search.best = NearestRun{run, std::move(pairs)};
}

NearestSearch nearest_passing_run(Laboratory& laboratory, const RunResult& failing) {
  const std::vector<Event> events = events_of(failing.observed);
  NearestSearch search;
  std::vector<RunRequest> requests;
  for (const SwitchList& list : neighbours(failing.observed, switches_of(failing)))
    requests.push_back(observed_request(list));
  for (const RunResult& run : laboratory.runs(requests)) keep_nearer(search, run, events);
  if (!search.best) try_random_schedules(laboratory, events, search);
  return search;
}

}  // namespace reweave
