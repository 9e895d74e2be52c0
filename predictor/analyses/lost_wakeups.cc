// Lost wake-ups: all notifications come before a thread starts to wait, so it waits forever.
//
// Sound: the witness executes the last notification of each other thread in the trace and leaves the waiter right
// before its wait, after the reads that made it decide to wait. Missed: cases in which the threads that notify a
// condition would have to do so in another order than in the trace. A wait that timed out does not count. Cost: a
// look-up for each thread and wait.
#include <algorithm>

#include "predictor/analyses/rows.h"

namespace reweave {
namespace {

class LostWakeups : public Analysis {
 public:
  std::vector<Group> propose(const AnalysisInput& input) override {
    const TraceModel& m = input.model;
    for (EventIndex w = 0; w < m.size(); ++w) {
      if (m.op[w] != Op::kWait || m.signals[m.object[w]].thread != kNone || idle(m, w)) continue;
      if (input.expired()) break;
      wait(input, w);
    }
    return groups_.take();
  }

 private:
  // True if the thread waits until its process exits normally: it has nothing left to do.
  static bool idle(const TraceModel& m, EventIndex w) {
    const std::uint32_t t = m.thread[w];
    for (std::uint32_t pos = m.position[w] + 1; pos < m.thread_size(t); ++pos) {
      if (m.op[m.at(t, pos)] == Op::kSync && pos + 1 < m.thread_size(t)) return false;  // the wait began, and returned
    }
    return std::any_of(m.threads.begin(), m.threads.end(), [&](const auto& events) {
      return !events.empty() && m.op[events.back()] == Op::kExit &&
             m.process_of[m.thread[events.back()]] == m.process_of[t];
    });
  }

  void wait(const AnalysisInput& in, EventIndex w) {
    const TraceModel& m = in.model;
    const auto notifies = m.waking_of[m.object[w]];
    std::vector<EventIndex> last;
    for (std::uint32_t t = 0; t < m.thread_count(); ++t) {
      if (t == m.thread[w]) continue;
      const EventIndex n = m.last_before(notifies, t, m.thread_size(t));
      if (n == kNone) continue;
      if (in.order.ordered(w, n)) return;
      last.push_back(n);
    }
    if (last.empty()) return;
    std::sort(last.begin(), last.end());
    Group& group = groups_.group({m.site[last.back()], m.site[w]});
    group.kind = FindingKind::kOrder;
    group.pattern = "lost-wake-up";
    group.score = 2.6;
    GroupTable::add(group, {{last.back(), w}, {last, {w}}});
  }

  GroupTable groups_;
};

}  // namespace

std::unique_ptr<Analysis> make_lost_wakeups() { return std::make_unique<LostWakeups>(); }

}  // namespace reweave
