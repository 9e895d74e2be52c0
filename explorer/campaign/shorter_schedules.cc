#include "explorer/campaign/shorter_schedules.h"

#include <algorithm>
#include <map>
#include <set>

namespace reweave {

namespace {

constexpr std::size_t kMostSchedules = 4'000;
constexpr std::size_t kMostDelays = 32;

std::set<std::uint64_t> shared_granules(const Observation& run) {
  std::map<std::uint64_t, ThreadId> first;
  std::set<std::uint64_t> shared;
  for (std::size_t i = 0; i < run.size(); i++) {
    const ChoiceNote& note = run[i];
    if (note.object == 0) continue;
    const auto [at, added] = first.try_emplace(note.object & ~std::uint64_t{7}, note.thread);
    if (!added && at->second != note.thread) shared.insert(at->first);
  }
  return shared;
}

std::set<ThreadId> threads_of(const Observation& run) {
  std::set<ThreadId> threads;
  for (std::size_t i = 0; i < run.size(); i++) threads.insert(run[i].thread);
  return threads;
}

}  // namespace

std::vector<StopPoint> stop_points(const Observation& run) {
  const std::set<std::uint64_t> shared = shared_granules(run);
  std::vector<StopPoint> points;
  for (std::size_t i = 0; i < run.size(); i++)
    if (!run.resumed(i) && run[i].tick != 0 && shared.contains(run[i].object & ~std::uint64_t{7}))
      points.push_back({run[i].thread, run[i].tick});
  return points;
}

std::vector<SwitchList> shorter_schedules(const Observation& run, const SwitchList& list) {
  std::vector<SwitchList> found;
  const std::vector<StopPoint> points = stop_points(run);
  const std::set<ThreadId> threads = threads_of(run);
  auto add = [&](const std::vector<ScheduleStep>& kept, bool with_free) {
    for (const StopPoint& point : points)
      for (const ThreadId to : threads) {
        if (to == point.thread || found.size() >= kMostSchedules) continue;
        found.push_back({kept, with_free ? list.free : std::vector<ScheduleStep>{}, list.inputs});
        found.back().preemptions.push_back({point.tick, point.thread, to, 0, 0});
      }
  };
  add({}, false);
  if (!list.free.empty()) add({}, true);
  for (std::size_t i = 0; list.preemptions.size() > 2 && i + 1 < list.preemptions.size(); i++) {
    std::vector<ScheduleStep> kept = list.preemptions;
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i), kept.begin() + static_cast<std::ptrdiff_t>(i + 2));
    add(kept, true);
  }
  return found;
}

std::vector<SwitchList> delayed_schedules(const Observation& run, const SwitchList& list, std::size_t index) {
  std::vector<SwitchList> found;
  const ScheduleStep& step = list.preemptions[index];
  for (const StopPoint& point : stop_points(run)) {
    if (point.thread != step.thread || point.tick <= step.tick || found.size() >= kMostDelays) continue;
    found.push_back(list);
    found.back().preemptions[index].tick = point.tick;
  }
  return found;
}

}  // namespace reweave
