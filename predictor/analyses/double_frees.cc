// Double frees: a heap block released twice in the trace; or predicted from one release, where a thread takes a pointer
// from a variable, resets the variable and frees the block, and another thread runs the same code.
//
// Sound as an ordering: the witness leaves the first thread between taking and resetting, and the other right before
// the same instruction takes the same value. That both threads then free the block is inferred from what the first one
// did. Whether the reset stores null is known from the instruction (formats/code/access_code.h) or the trace. Cost: a
// few events before each release.
#include <algorithm>

#include "predictor/analyses/rows.h"
#include "predictor/model/access_classes.h"

namespace reweave {
namespace {

constexpr std::uint32_t kNearFree = 32;  // events of the thread between taking, resetting and freeing
constexpr std::size_t kDoubleFreeSamples = 4;

class DoubleFrees : public Analysis {
 public:
  std::vector<Group> propose(const AnalysisInput& input) override {
    const TraceModel& m = input.model;
    std::vector<EventIndex> released(m.blocks.size(), kNone);
    for (EventIndex f = 0; f < m.size(); ++f) {
      if (m.op[f] != Op::kFree) continue;
      if (input.expired()) break;
      EventIndex& first = released[m.object[f]];
      if (first == kNone) {
        first = f;
        taken_by_another(input, f);
      } else {
        twice(m, first, f);
      }
    }
    return groups_.take();
  }

 private:
  void twice(const TraceModel& m, EventIndex first, EventIndex second) {
    if (m.thread[first] == m.thread[second]) return;  // visible without reordering
    Group& group = groups_.group({0, m.site[first], m.site[second]});
    group.kind = FindingKind::kOrder;
    group.pattern = "double-free";
    group.score = 3.0;
    GroupTable::add(group, {{first, second}, {{first}, {second}}});
  }

  // Looks around the release `f` for a read of a pointer variable and a store of null to it.
  void taken_by_another(const AnalysisInput& in, EventIndex f) {
    const TraceModel& m = in.model;
    const std::uint32_t t = m.thread[f], pos = m.position[f];
    const std::uint32_t from = pos - std::min(pos, kNearFree), to = std::min(pos + kNearFree, m.thread_size(t));
    for (std::uint32_t p = from; p < to; ++p) {
      const EventIndex reset = m.at(t, p);
      if (m.op[reset] != Op::kWrite || (m.flags[reset] & kNull) == 0) continue;
      const EventIndex taken = m.last_before(m.reads_of[m.object[reset]], t, std::min(p, pos));
      if (taken == kNone || m.position[taken] < from || m.op[taken] != Op::kRead || m.is_atomic(taken)) continue;
      others(in, taken, reset, f);
    }
  }

  void others(const AnalysisInput& in, EventIndex taken, EventIndex reset, EventIndex f) {
    const TraceModel& m = in.model;
    std::vector<EventIndex> same_code;
    for (EventIndex r : m.reads_of[m.object[taken]]) {
      if (m.thread[r] != m.thread[taken] && m.site[r] == m.site[taken] && m.op[r] == Op::kRead) same_code.push_back(r);
    }
    for (EventIndex r : spread(same_code, kDoubleFreeSamples)) {
      if (in.order.ordered(reset, r) || in.order.ordered(r, taken) || kept_out(in, taken, reset, r)) continue;
      Group& group = groups_.group({1, m.site[taken], m.site[reset], m.site[f]});
      group.kind = FindingKind::kOrder;
      group.pattern = "freed-by-both";
      group.score = 2.9;
      GroupTable::add(group, {{taken, r, reset, f}, {{taken}, {reset, r}, ReadRule::kAllDecide, r, m.link[taken]}});
    }
  }

  // True if one section of a lock that `r` needs encloses both taking and resetting.
  static bool kept_out(const AnalysisInput& in, EventIndex taken, EventIndex reset, EventIndex r) {
    const auto& locks = in.locksets.locks(in.locksets.at(r));
    return std::any_of(locks.begin(), locks.end(), [&](const Locksets::Lock& lock) {
      const EventIndex section = in.locksets.section(taken, lock.id);
      return section != kNone && section == in.locksets.section(reset, lock.id) &&
             !(lock.shared && in.model.is_shared(section));
    });
  }

  GroupTable groups_;
};

}  // namespace

std::unique_ptr<Analysis> make_double_frees() { return std::make_unique<DoubleFrees>(); }

}  // namespace reweave
