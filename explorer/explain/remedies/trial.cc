#include "explorer/explain/remedies/trial.h"

#include <algorithm>
#include <map>

namespace reweave {

bool any_under_lock(std::initializer_list<const Event*> events) {
  return std::ranges::any_of(events, [](const Event* event) { return !event->locks.empty(); });
}

AssumedCode::Block block_of(const Event& begin, const Event& end, bool locks) {
  if (!locks) return {begin.name.pc, end.name.pc};
  return {begin.entry().pc, end.lock_given != 0 ? end.lock_given : end.name.pc};
}

bool is_held_through(const Event& begin, const Event& end) {
  return !begin.locks.empty() && !end.locks.empty() && begin.locks.front().taken == end.locks.front().taken;
}

bool Trial::attempt(std::vector<Remedy>& tried, Remedy remedy) {
  Guide guide = at_random(remedy.held.orders);
  guide.regions = remedy.held.regions;
  remedy.rate = laboratory_.rate(guide, runs_, 1);
  if (remedy.rate.never() && !fails_more(found_.base, remedy.rate)) remedy.near = rate_near(remedy);
  tried.push_back(std::move(remedy));
  return tried.back().works();
}

// The same share of runs from each point of the curve, so that their rate can be compared with the curve's.
Rate Trial::rate_near(const Remedy& remedy) {
  constexpr std::uint64_t kShare = 5;
  Guide guide;
  guide.switches = switches_of(found_.failing);
  guide.orders = remedy.held.orders;
  guide.regions = remedy.held.regions;
  Rate rate;
  for (const CurvePoint& point : found_.curve) {
    guide.choices = static_cast<std::uint32_t>(point.choice);
    rate += laboratory_.rate(guide, point.rate.tried / kShare, 1);
  }
  return rate;
}

const std::vector<std::vector<Event>>& Trial::some_runs() {
  constexpr std::uint64_t kRuns = 100;
  if (some_runs_.empty()) {
    some_runs_ = {failing_, passing_};
    laboratory_.rate(at_random(), kRuns, 1,
                     [&](const RunResult& run, bool) { some_runs_.push_back(events_of(run.observed)); });
  }
  return some_runs_;
}

void Trial::add_copies(AssumedCode& code, const ThreadCode& block, bool locks) {
  for (const std::vector<Event>& run : some_runs()) {
    std::map<ThreadId, const Event*> begun;
    for (const Event& event : run) {
      const Event*& begin = begun[event.name.thread];
      if (begin == nullptr && same_code(event, block.begin)) begin = &event;
      if (begin == nullptr || !same_code(event, block.end)) continue;
      const AssumedCode::Block copy = block_of(*begin, event, locks);
      if (std::ranges::find(code.blocks, copy) == code.blocks.end() && code.blocks.size() < kMostRegions)
        code.blocks.push_back(copy);
      begin = nullptr;
    }
  }
}

}  // namespace reweave
