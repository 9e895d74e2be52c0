// Deadlocks: threads, each right before taking a lock that the next one holds.
//
// Dependencies (thread, lock wanted, locks held, code location) are grouped, and cycles of up to eight threads are
// searched among the groups, such that no two threads hold the same lock. Sound: the witness leaves every thread right
// before its acquisition. Missed: longer cycles, and instances beyond the sampled ones. Cost: one pass over the
// acquisitions; the search is bounded by kMaxDeadlockSteps.
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "predictor/analyses/rows.h"
#include "predictor/model/access_classes.h"

namespace reweave {
namespace {

constexpr std::uint32_t kMaxDeadlockSteps = 2'000'000;
constexpr std::size_t kDeadlockSamples = 8;
constexpr std::uint32_t kDeadlockPartners = 3;

struct Dependency {
  std::uint32_t thread, lock, held, site;
  bool shared;
  std::vector<EventIndex> events;
};

class Deadlocks : public Analysis {
 public:
  std::vector<Group> propose(const AnalysisInput& input) override {
    collect(input);
    for (std::uint32_t d = 0; d < dependencies_.size() && !input.expired(); ++d) {
      std::vector<std::uint32_t> path{d};
      extend(input, path);
    }
    return groups_.take();
  }

 private:
  void collect(const AnalysisInput& in) {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, bool>, std::uint32_t> index;
    const TraceModel& m = in.model;
    for (EventIndex e = 0; e < m.size(); ++e) {
      if ((!m.is_acquire(e) && m.op[e] != Op::kRequest) || in.locksets.at(e) == 0) continue;
      const auto key = std::make_tuple(m.thread[e], m.object[e], in.locksets.at(e), m.site[e], m.is_shared(e));
      auto [it, fresh] = index.try_emplace(key, static_cast<std::uint32_t>(dependencies_.size()));
      if (fresh) {
        for (const auto& lock : in.locksets.locks(in.locksets.at(e))) holders_[lock.id].push_back(it->second);
        dependencies_.push_back({m.thread[e], m.object[e], in.locksets.at(e), m.site[e], m.is_shared(e), {}});
      }
      dependencies_[it->second].events.push_back(e);
    }
  }

  // True if a thread that holds `held` makes a thread with dependency `d` wait.
  static bool blocks(const AnalysisInput& in, std::uint32_t held, const Dependency& d) {
    for (const auto& lock : in.locksets.locks(held)) {
      if (lock.id == d.lock && !(lock.shared && d.shared)) return true;
    }
    return false;
  }

  void extend(const AnalysisInput& in, std::vector<std::uint32_t>& path) {
    if (++steps_ > kMaxDeadlockSteps) return;
    const Dependency& last = dependencies_[path.back()];
    if (path.size() > 1 && blocks(in, dependencies_[path.front()].held, last)) return report(in, path);
    if (path.size() == kMostDeadlocked) return;
    auto next = holders_.find(last.lock);
    if (next == holders_.end()) return;
    for (std::uint32_t n : next->second) {
      if (n < path.front() || !blocks(in, dependencies_[n].held, last)) continue;
      const bool fits = std::all_of(path.begin(), path.end(), [&](std::uint32_t p) {
        return dependencies_[p].thread != dependencies_[n].thread &&
               in.locksets.compatible(dependencies_[p].held, dependencies_[n].held);
      });
      if (!fits) continue;
      path.push_back(n);
      extend(in, path);
      path.pop_back();
    }
  }

  void report(const AnalysisInput& in, const std::vector<std::uint32_t>& path) {
    GroupTable::Key key;
    for (std::uint32_t d : path) key.push_back(dependencies_[d].site);
    std::rotate(key.begin(), std::min_element(key.begin(), key.end()), key.end());
    Group& group = groups_.group(key);
    group.kind = FindingKind::kDeadlock;
    group.score = 3.0 - 0.1 * static_cast<double>(path.size());
    group.pattern.clear();
    for (std::size_t i = 0; i < path.size(); ++i) group.pattern.append(i ? "-L" : "L").append(std::to_string(i + 1));
    for (EventIndex e : spread(dependencies_[path[0]].events, kDeadlockSamples)) {
      std::vector<EventIndex> chosen{e};
      choose(in, group, path, chosen);
    }
  }

  // Completes `chosen` with instances of the other dependencies that can all be reached together.
  void choose(const AnalysisInput& in, Group& group, const std::vector<std::uint32_t>& path,
              std::vector<EventIndex>& chosen) {
    if (chosen.size() == path.size()) return GroupTable::add(group, {chosen, {{}, chosen}});
    const Dependency& d = dependencies_[path[chosen.size()]];
    std::uint32_t first = 0;
    for (EventIndex e : chosen) first = std::max(first, in.order.reaching(e)[d.thread]);
    auto it = std::partition_point(d.events.begin(), d.events.end(),
                                   [&](EventIndex o) { return in.model.position[o] < first; });
    for (std::uint32_t tries = 0; tries < kDeadlockPartners && it != d.events.end(); ++tries, ++it) {
      if (std::any_of(chosen.begin(), chosen.end(),
                      [&](EventIndex e) { return in.order.ordered_before_reaching(e, *it); }))
        return;
      chosen.push_back(*it);
      choose(in, group, path, chosen);
      chosen.pop_back();
    }
  }

  std::vector<Dependency> dependencies_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> holders_;  // by lock held
  GroupTable groups_;
  std::uint32_t steps_ = 0;
};

}  // namespace

std::unique_ptr<Analysis> make_deadlocks() { return std::make_unique<Deadlocks>(); }

}  // namespace reweave
