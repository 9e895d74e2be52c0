#include "explorer/campaign/suspicions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "explorer/campaign/sharing.h"

namespace reweave {

namespace {

constexpr std::size_t kMostSuspicionsOfObject = 400;
constexpr std::size_t kMostOfSites = 3;

// Weights of patterns; their order was determined by experiments on programs with known bugs.
constexpr double kReadWrite = 13, kReadRead = 12, kWriteRead = 11, kWriteWrite = 10, kNestedLocks = 9, kNewThread = 7,
                 kFirstUse = 6, kSynchronisation = 5;

struct AcquiredLock {
  std::uint64_t object;
  std::size_t since;  // choice that acquired it
};

class Finder {
 public:
  explicit Finder(const Observation& run) : run_(run) {}

  std::vector<Suspicion> find() {
    follow_locks();
    for (const SharedObject& object : shared_objects(run_)) look_at(object);
    new_threads();
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Suspicion& a, const Suspicion& b) { return a.weight > b.weight; });
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> of_sites;
    std::erase_if(found_, [&](const Suspicion& s) { return of_sites[{s.here, s.there}]++ >= kMostOfSites; });
    return std::move(found_);
  }

 private:
  // Records the locks that the thread of each choice holds there.
  void follow_locks() {
    std::map<ThreadId, std::vector<AcquiredLock>> holding;
    held_.resize(run_.size());
    for (std::size_t i = 0; i < run_.size(); i++) {
      std::vector<AcquiredLock>& mine = holding[run_[i].thread];
      held_[i] = mine;
      const std::uint64_t object = run_[i].object;
      if (kind_of(run_[i]) == OpKind::kLock && !run_.resumed(i)) mine.push_back({object, i});
      if (kind_of(run_[i]) == OpKind::kUnlock)
        std::erase_if(mine, [=](const AcquiredLock& lock) { return lock.object == object; });
    }
  }

  void look_at(const SharedObject& object) {
    std::map<ThreadId, std::vector<std::size_t>> by_thread;
    for (const std::size_t i : object.operations) by_thread[run_[i].thread].push_back(i);
    std::size_t before = found_.size();
    for (const auto& [a, mine] : by_thread)
      for (const auto& [b, theirs] : by_thread) {
        if (a == b || found_.size() - before > kMostSuspicionsOfObject) continue;
        if (is_sync(run_[mine.front()]) && kind_of(run_[mine.front()]) != OpKind::kOther)
          synchronisation(mine, theirs);
        else
          memory(mine, theirs, object.operations.size());
      }
  }

  void memory(const std::vector<std::size_t>& mine, const std::vector<std::size_t>& theirs, std::size_t uses) {
    first_use(mine.front(), theirs);
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    for (std::size_t k = 0; k + 1 < mine.size(); k++) {
      const std::size_t first = mine[k], second = mine[k + 1];
      if (!seen.insert({run_[first].pc, run_[second].pc}).second) continue;
      const bool w1 = writes(first), w2 = writes(second);
      for (const std::size_t other : theirs) {
        if (!writes(other) && !(w1 && w2)) continue;
        const double distance = std::log2(1.0 + run_[second].tick - run_[first].tick);
        double weight = w1 ? (w2 ? kWriteWrite : kWriteRead) : (w2 ? kReadWrite : kReadRead);
        weight -= 0.5 * distance + 0.2 * std::log2(static_cast<double>(uses));
        if (kind_of(run_[other]) == OpKind::kOther) weight += 2;
        stop_between(first, second, other, weight);
        break;
      }
    }
  }

  void first_use(std::size_t mine, const std::vector<std::size_t>& theirs) {
    for (const std::size_t other : theirs)
      if (writes(other) || writes(mine)) return stop_between(~std::size_t{0}, mine, other, kFirstUse);
  }

  void synchronisation(const std::vector<std::size_t>& mine, const std::vector<std::size_t>& theirs) {
    std::set<std::uint64_t> seen;
    for (const std::size_t i : mine) {
      if (kind_of(run_[i]) == OpKind::kUnlock || !seen.insert(run_[i].pc).second) continue;
      const bool nested = kind_of(run_[i]) == OpKind::kLock && !held_[i].empty();
      add(i, theirs.front(), nested ? kNestedLocks : kSynchronisation);
    }
  }

  // Stops the creator of a thread as soon as the thread exists.
  void new_threads() {
    std::set<ThreadId> known;
    for (std::size_t i = 0; i < run_.size(); i++)
      for (const ThreadId id : run_.enabled(i)) {
        if (!known.insert(id).second || i == 0 || run_[i].flags != kFromEnabled || id == run_[i].from) continue;
        Suspicion found;
        found.weight = kNewThread;
        found.here = run_[i].pc;
        found.there = id;
        found.schedule.preemptions.push_back({tick_of(run_[i].from, i), run_[i].from, id, 0, 0});
        found_.push_back(std::move(found));
      }
  }

  // Stops the thread of `second` after `first`, but not while it holds a lock that `other` needs.
  void stop_between(std::size_t first, std::size_t second, std::size_t other, double weight) {
    std::size_t stop = second;
    for (const AcquiredLock& mine : held_[second])
      for (const AcquiredLock& theirs : held_[other])
        if (mine.object == theirs.object) stop = std::min(stop, mine.since);
    if (first != ~std::size_t{0} && stop <= first) return;
    add(stop, other, weight);
  }

  void add(std::size_t stop, std::size_t other, double weight) {
    const ChoiceNote &here = run_[stop], &there = run_[other];
    if (here.tick == 0) return;
    Suspicion found;
    found.weight = weight;
    found.here = here.pc;
    found.there = there.pc;
    if (other < stop) start_later(there.thread, here.thread, found.schedule);
    found.schedule.preemptions.push_back({here.tick, here.thread, there.thread, 0, 0});
    found_.push_back(std::move(found));
  }

  // For an `early` that ran before `late`: adds a switch to `late` at the place where `early` was first chosen.
  void start_later(ThreadId early, ThreadId late, SwitchList& schedule) const {
    for (std::size_t i = 0; i < run_.size(); i++) {
      if (run_[i].thread != early) continue;
      if (run_[i].from == early) return;
      const bool free = run_[i].flags != kFromEnabled;
      const ScheduleStep step = {tick_of(run_[i].from, i), run_[i].from, late, static_cast<std::uint16_t>(free), 0};
      (free ? schedule.free : schedule.preemptions).push_back(step);
      return;
    }
  }

  // The number of points that `thread` has executed when choice i is made.
  std::uint32_t tick_of(ThreadId thread, std::size_t i) const {
    for (std::size_t k = i; k-- > 0;)
      if (run_[k].thread == thread) {
        // If it could continue, it is already at its next point.
        return run_[i].from == thread && run_[i].flags != 0 ? next_tick(thread, i) : run_[k].tick;
      }
    return next_tick(thread, i);
  }
  std::uint32_t next_tick(ThreadId thread, std::size_t i) const {
    for (; i < run_.size(); i++)
      if (run_[i].thread == thread) return run_[i].tick;
    return 0;
  }
  bool writes(std::size_t i) const { return run_[i].is_write != 0; }

  const Observation& run_;
  std::vector<std::vector<AcquiredLock>> held_;
  std::vector<Suspicion> found_;
};

}  // namespace

std::vector<Suspicion> suspicions_of(const Observation& run) { return Finder(run).find(); }

}  // namespace reweave
