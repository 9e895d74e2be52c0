// Locks held across a wait: a thread waits for a condition or for the end of a thread while it holds a lock, and each
// thread that could wake it is right before taking that lock.
//
// Sound: the witness leaves the waiter right before its wait and all the others right before their acquisitions, so
// every future wake-up comes after one of these. Missed: waits for semaphores (their values are not known) and
// barriers, and instances beyond the sampled ones. Cost: a bounded number of look-ups for each wait that keeps a lock.
#include <algorithm>

#include "predictor/analyses/rows.h"

namespace reweave {
namespace {

constexpr std::size_t kMaxWakers = 8;
constexpr std::uint32_t kWaitPartners = 4;
constexpr std::uint32_t kMaxWaitSteps = 1'000'000;

class Waits : public Analysis {
 public:
  std::vector<Group> propose(const AnalysisInput& input) override {
    const TraceModel& m = input.model;
    for (EventIndex w = 0; w < m.size(); ++w) {
      if (m.op[w] != Op::kWait || input.locksets.at(w) == 0) continue;
      if (input.expired()) break;
      for (const auto& lock : input.locksets.locks(input.locksets.at(w))) {
        const EventIndex acquire = input.locksets.section(w, lock.id);
        if (!released_by_wait(m, w, acquire)) wait(input, w, lock);
      }
    }
    return groups_.take();
  }

 private:
  // True if the wait releases the lock: a condition's own mutex is released by the same event of the trace.
  static bool released_by_wait(const TraceModel& m, EventIndex w, EventIndex acquire) {
    const EventIndex release = m.link[acquire];
    return release != kNone && m.source[release] == m.source[w];
  }

  void wait(const AnalysisInput& in, EventIndex w, const Locksets::Lock& lock) {
    const TraceModel& m = in.model;
    const auto reached = in.order.reaching(w);
    std::vector<std::vector<EventIndex>> wakers;  // by waking thread: acquisitions that may block it
    for (std::uint32_t t = 0; t < m.thread_count(); ++t) {
      if (t == m.thread[w]) continue;
      const EventIndex last = m.last_before(m.waking_of[m.object[w]], t, m.thread_size(t));
      if (last == kNone || m.position[last] < reached[t]) continue;
      wakers.push_back(acquires(in, w, lock, t, reached[t], m.position[last]));
      if (wakers.back().empty()) return;
    }
    if (wakers.empty() || wakers.size() > kMaxWakers) return;
    std::vector<EventIndex> chosen{w};
    choose(in, wakers, chosen);
  }

  static std::vector<EventIndex> acquires(const AnalysisInput& in, EventIndex w, const Locksets::Lock& lock,
                                          std::uint32_t t, std::uint32_t from, std::uint32_t to) {
    const TraceModel& m = in.model;
    std::vector<EventIndex> result;
    for (EventIndex a : m.slice(m.locking_of[lock.id], t, from, to)) {
      const bool shared = m.is_shared(a) && lock.shared;
      if (shared || in.order.ordered_before_reaching(w, a)) continue;
      result.push_back(a);
      if (result.size() == kWaitPartners) break;
    }
    return result;
  }

  void choose(const AnalysisInput& in, const std::vector<std::vector<EventIndex>>& wakers,
              std::vector<EventIndex>& chosen) {
    if (++steps_ > kMaxWaitSteps) return;
    if (chosen.size() == wakers.size() + 1) return report(in.model, chosen);
    for (EventIndex a : wakers[chosen.size() - 1]) {
      chosen.push_back(a);
      choose(in, wakers, chosen);
      chosen.pop_back();
    }
  }

  void report(const TraceModel& m, const std::vector<EventIndex>& chosen) {
    GroupTable::Key key;
    for (EventIndex e : chosen) key.push_back(m.site[e]);
    Group& group = groups_.group(key);
    group.kind = FindingKind::kDeadlock;
    group.pattern = "wait";
    for (std::size_t i = 1; i < chosen.size(); ++i) group.pattern.append("-L").append(std::to_string(i + 1));
    group.score = 2.8;
    GroupTable::add(group, {chosen, {{}, chosen}});
  }

  GroupTable groups_;
  std::uint32_t steps_ = 0;
};

}  // namespace

std::unique_ptr<Analysis> make_waits() { return std::make_unique<Waits>(); }

}  // namespace reweave
