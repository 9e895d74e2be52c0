#include "explorer/explain/remedies.h"

#include <algorithm>

namespace reweave {

namespace {

// `block` with one more event of its thread in front, or behind; itself if there is none.
Event neighbour(const std::vector<Event>& events, const Event& of, bool behind) {
  const Event* found = &of;
  for (const Event& event : events) {
    if (event.name.thread != of.name.thread || event.name.pc == of.name.pc) continue;
    if (behind && event.choice > of.choice) return event;
    if (!behind && event.choice < of.choice) found = &event;
  }
  return *found;
}

// Where locks are held, a thread has to be stopped before it takes them: then the region is told by its code alone.
RegionGoal goal_of(const Event& begin, const Event& end, const Event& rival) {
  if (!begin.lock_taken && !rival.lock_taken && !end.lock_taken)
    return {begin.name.pc, end.name.pc, 1, {begin.name.pc, rival.name.pc}};
  const std::uint64_t given = end.lock_given != 0 ? end.lock_given : end.name.pc;
  return {begin.entry().pc, given, 0, {begin.entry().pc, rival.entry().pc}};
}

}  // namespace

std::vector<Remedy> try_remedies(Laboratory& laboratory, const Flip& flip, const std::vector<Event>& failing,
                                 std::uint64_t runs) {
  constexpr int kMostWidenings = 3;
  std::vector<Remedy> tried;
  Guide guide;
  guide.choices = 0;
  const auto attempt = [&](bool is_region, const Event& begin, const Event& end) {
    tried.push_back({is_region, begin, end, laboratory.rate(guide, runs, 1)});
    return tried.back().rate.never() || laboratory.time_is_up();
  };
  if (!flip.block) {
    const auto any = [](const Event& event) { return Arrival{event.name.pc, 1, kAnyThread, 0}; };
    guide.orders = {{any(flip.pair.then), any(flip.pair.first)}};
    attempt(false, flip.pair.then, flip.pair.first);
    return tried;
  }
  Event begin = flip.block->begin, end = flip.block->end;
  for (int i = 0; i <= kMostWidenings; i++) {
    guide.regions = {goal_of(begin, end, flip.block->between)};
    if (attempt(true, begin, end)) break;
    const bool behind = i % 2 == 0;
    (behind ? end : begin) = neighbour(failing, behind ? end : begin, behind);
  }
  return tried;
}

}  // namespace reweave
