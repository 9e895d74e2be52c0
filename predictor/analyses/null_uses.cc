// Null dereferences after a reset: one thread sets a pointer variable to null, and another reads it and dereferences it
// unchecked.
//
// Sound as an ordering: the witness ends right before the read, which would read the null. The instructions
// (formats/code/access_code.h) or the trace show that the program then follows the pointer without comparing it with
// null; a place that read null in the trace and continued is not reported. Cost: as races.cc.
#include <algorithm>
#include <set>

#include "predictor/analyses/rows.h"
#include "predictor/model/access_classes.h"

namespace reweave {
namespace {

constexpr std::size_t kNullSamples = 6;
constexpr std::uint32_t kPointerBytes = 8;

class NullUses : public Analysis {
 public:
  std::vector<Group> propose(const AnalysisInput& input) override {
    const TraceModel& m = input.model;
    for (EventIndex r = 0; r < m.size(); ++r) {
      if (m.op[r] == Op::kRead && m.link[r] != kNone && (m.flags[m.link[r]] & kNull) != 0) careful_.insert(m.site[r]);
    }
    for (std::uint32_t v = 0; v < m.variables.size() && !input.expired(); ++v) {
      if (m.variables[v].bytes == kPointerBytes) variable(input, v);
    }
    return groups_.take();
  }

 private:
  void variable(const AnalysisInput& in, std::uint32_t v) {
    const TraceModel& m = in.model;
    std::vector<EventIndex> nulls;
    for (EventIndex w : m.writes_of[v]) {
      if (m.op[w] == Op::kWrite && (m.flags[w] & kNull) != 0) nulls.push_back(w);
    }
    if (nulls.empty()) return;
    for (const AccessClass& reads : in.classes_of(v)) {
      if (reads.op != Op::kRead || reads.atomic || careful_.contains(reads.site)) continue;
      if ((m.flags[reads.events[0]] & kNull) == 0) continue;
      for (EventIndex r : spread(reads.events, kNullSamples)) {
        for (EventIndex w : spread(nulls, kNullSamples)) pair(in, w, r);
      }
    }
  }

  void pair(const AnalysisInput& in, EventIndex w, EventIndex r) {
    const TraceModel& m = in.model;
    if (m.thread[w] == m.thread[r] || in.order.ordered(r, w)) return;
    const EventIndex read_in_trace = m.link[r];
    const bool always_overwritten =
        read_in_trace != kNone && in.order.ordered(w, read_in_trace) && in.order.ordered(read_in_trace, r);
    if (always_overwritten) return;
    Group& group = groups_.group({m.site[w], m.site[r]});
    group.kind = FindingKind::kOrder;
    group.pattern = "null-use";
    group.score = 2.7;
    GroupTable::add(group, {{w, r}, {{w}, {r}, ReadRule::kAllDecide, r, w}});
  }

  GroupTable groups_;
  std::set<std::uint32_t> careful_;  // code that read null and continued
};

}  // namespace

std::unique_ptr<Analysis> make_null_uses() { return std::make_unique<NullUses>(); }

}  // namespace reweave
