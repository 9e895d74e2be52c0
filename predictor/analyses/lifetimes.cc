// Missing joins: the process ends while a thread still has something to write, or a thread ends while another still
// uses its stack.
//
// Sound: the witness executes the end and leaves the other thread right before its access. Whether the lost work
// matters is unknown, so only threads that finish their work in the trace count. Cost: one look at each thread, and at
// the accesses of variables on stacks.
#include <algorithm>

#include "predictor/analyses/order_pair.h"
#include "predictor/analyses/rows.h"
#include "predictor/model/access_classes.h"

namespace reweave {
namespace {

constexpr std::size_t kUseSamples = 4;
constexpr OrderPattern kExitBeforeWrite{0, "exit-before-write", 1.5}, kUseAfterEnd{1, "use-after-end", 2.4};

class Lifetimes : public Analysis {
 public:
  std::vector<Group> propose(const AnalysisInput& input) override {
    const TraceModel& m = input.model;
    for (const auto& events : m.threads) {
      if (!events.empty() && m.op[events.back()] == Op::kExit) exits(input, events.back());
    }
    for (std::uint32_t v = 0; v < m.variables.size() && !input.expired(); ++v) {
      const std::uint32_t block = m.variables[v].block;
      if (block != kNone && m.blocks[block].is_stack) on_stack(input, v, m.blocks[block].nth);
    }
    return groups_.take();
  }

 private:
  static bool ends(const TraceModel& m, std::uint32_t t) {
    return m.thread_size(t) > 0 && m.op[m.threads[t].back()] == Op::kEnd;
  }

  void exits(const AnalysisInput& in, EventIndex exit) {
    const TraceModel& m = in.model;
    for (std::uint32_t t = 0; t < m.thread_count(); ++t) {
      if (t == m.thread[exit] || m.process_of[t] != m.process_of[m.thread[exit]] || !ends(m, t)) continue;
      const auto& events = m.threads[t];
      const auto last = std::find_if(events.rbegin(), events.rend(),
                                     [&](EventIndex e) { return m.is_write(e) && (m.flags[e] & kFrees) == 0; });
      if (last != events.rend()) propose_order(in, groups_, kExitBeforeWrite, exit, *last);
    }
  }

  void on_stack(const AnalysisInput& in, std::uint32_t v, std::uint32_t owner) {
    const TraceModel& m = in.model;
    if (owner >= m.thread_count() || !ends(m, owner)) return;
    for (const AccessClass& uses : in.classes_of(v)) {
      if (uses.thread == owner || uses.frees) continue;
      for (EventIndex e : spread(uses.events, kUseSamples)) {
        propose_order(in, groups_, kUseAfterEnd, m.threads[owner].back(), e);
      }
    }
  }

  GroupTable groups_;
};

}  // namespace

std::unique_ptr<Analysis> make_lifetimes() { return std::make_unique<Lifetimes>(); }

}  // namespace reweave
