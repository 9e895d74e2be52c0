#include "explorer/explain/remedies.h"

#include <algorithm>
#include <iterator>

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

// Whoever is in the block of `begin` to `end` keeps others from the operations of `rivals`. Where locks are held, a
// thread has to be stopped before it takes them: then code alone says what is kept off.
RegionGoal region(const Event& begin, const Event& end, const std::vector<Event>& rivals) {
  const bool locks = !begin.locks.empty() || !end.locks.empty() ||
                     std::ranges::any_of(rivals, [](const Event& rival) { return !rival.locks.empty(); });
  RegionGoal goal = {begin.name.pc, end.name.pc, locks ? 0u : 1u, {}};
  if (locks) goal.begin = begin.entry().pc;
  if (locks && end.lock_given != 0) goal.end = end.lock_given;
  goal.rivals[0] = goal.begin;
  for (std::size_t i = 0; i < rivals.size() && i + 1 < std::size(goal.rivals); i++)
    goal.rivals[i + 1] = locks ? rivals[i].entry().pc : rivals[i].name.pc;
  return goal;
}

// The blocks of both threads, one at a time: that which is broken, and what the other thread does with the object up to
// where it breaks it.
std::vector<RegionGoal> regions(const Event& begin, const Event& end, const Event& between,
                                const std::vector<Event>& events) {
  const Event* other = &between;
  for (const Event& event : events)
    if (event.choice < between.choice && event.name.thread == between.name.thread &&
        event.note.object == between.note.object)
      other = &event;
  std::vector<RegionGoal> goals = {region(begin, end, {between, *other})};
  if (other != &between) goals.push_back(region(*other, between, {begin, between}));
  return goals;
}

class Remedies {
 public:
  Remedies(Laboratory& laboratory, const Flip& flip, const std::vector<Event>& failing, std::uint64_t runs)
      : laboratory_(laboratory), flip_(flip), failing_(failing), runs_(runs) {
    guide_.choices = 0;
  }

  std::vector<Remedy> attempt_all() {
    if (!flip_.block_tells) try_order();
    const bool prevented = !tried_.empty() && tried_.back().rate.never();
    if (flip_.block && !prevented) try_blocks();
    std::erase_if(tried_, [](const Remedy& remedy) { return remedy.rate.tried == 0; });
    return std::move(tried_);
  }

 private:
  // True if it removes the failure.
  bool attempt(bool is_region, const Event& begin, const Event& end) {
    tried_.push_back({is_region, begin, end, laboratory_.rate(guide_, runs_, 1)});
    return tried_.back().rate.never();
  }

  void try_order() {
    const auto any = [](const Event& event) { return Arrival{event.name.pc, 1, kAnyThread, 0}; };
    guide_.orders = {{any(flip_.pair.then), any(flip_.pair.first)}};
    attempt(false, flip_.pair.then, flip_.pair.first);
    guide_.orders.clear();
  }

  void try_blocks() {
    constexpr int kMostWidenings = 3;
    Event begin = flip_.block->begin, end = flip_.block->end;
    for (int i = 0; i <= kMostWidenings && !laboratory_.time_is_up(); i++) {
      guide_.regions = regions(begin, end, flip_.block->between, failing_);
      if (attempt(true, begin, end)) return;
      Event& side = i % 2 == 0 ? end : begin;
      side = neighbour(failing_, side, i % 2 == 0);
    }
  }

  Laboratory& laboratory_;
  const Flip& flip_;
  const std::vector<Event>& failing_;
  std::uint64_t runs_;
  Guide guide_;
  std::vector<Remedy> tried_;
};

}  // namespace

std::vector<Remedy> try_remedies(Laboratory& laboratory, const Flip& flip, const std::vector<Event>& failing,
                                 std::uint64_t runs) {
  return Remedies(laboratory, flip, failing, runs).attempt_all();
}

std::vector<Remedy> try_remedies(Laboratory& laboratory, const std::vector<LockWait>& cycle, std::uint64_t runs) {
  Guide guide;
  guide.choices = 0;
  for (const LockWait& wait : cycle) {
    if (guide.regions.size() == kMostRegions) break;
    RegionGoal goal = {wait.holds.name.pc, wait.wants.name.pc, 0, {}};
    for (std::size_t i = 0; i < cycle.size() && i < std::size(goal.rivals); i++)
      goal.rivals[i] = cycle[i].holds.name.pc;
    guide.regions.push_back(goal);
  }
  const Remedy remedy = {true, cycle.front().holds, cycle.front().wants, laboratory.rate(guide, runs, 1)};
  if (remedy.rate.tried == 0) return {};
  return {remedy};
}

}  // namespace reweave
