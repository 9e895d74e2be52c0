// Order violations: something that has to come first, does not. Two of them can be told without knowing the program:
// a heap block used after its release, and a variable read before its first write.
//
// Sound as an ordering: the witness releases the block and stops the user right before the use; or reads, with the
// writer stopped right before its write. A read before the first write may be meant (the code may check for it), so it
// scores low. Locks do not help against wrong order, so no lockset filter. Cost: as races.cc.
#include <algorithm>

#include "predictor/access_classes.h"
#include "predictor/analyses/rows.h"

namespace reweave {
namespace {

constexpr std::size_t kSamples = 4;

class Orders : public Analysis {
 public:
  std::vector<Group> propose(const AnalysisInput& input) override {
    for (std::uint32_t v = 0; v < input.model.variables.size() && !input.expired(); ++v) {
      const auto classes = access_classes(input.model, v);
      use_after_free(input, classes);
      read_before_write(input, v, classes);
    }
    return groups_.take();
  }

 private:
  void use_after_free(const AnalysisInput& in, const std::vector<AccessClass>& classes) {
    for (const AccessClass& freed : classes) {
      if (!freed.frees) continue;
      for (const AccessClass& use : classes) {
        if (use.frees || use.thread == freed.thread) continue;
        for (EventIndex e : spread(use.events, kSamples)) {
          const EventIndex f = freed.events.back();
          if (in.order.ordered(e, f) || in.order.ordered(f, e)) continue;
          Group& group = groups_.group({0, use.site, freed.site});
          group.kind = FindingKind::kOrder;
          group.pattern = "use-after-free";
          group.score = 2.8;
          GroupTable::add(group, {{f, e}, {{f}, {e}}});
        }
      }
    }
  }

  void read_before_write(const AnalysisInput& in, std::uint32_t v, const std::vector<AccessClass>& classes) {
    const auto writes = in.model.writes_of[v];
    if (writes.empty()) return;
    const EventIndex first = *std::min_element(writes.begin(), writes.end());
    if ((in.model.flags[first] & kFrees) != 0) return;
    for (const AccessClass& reads : classes) {
      if (reads.thread == in.model.thread[first] || reads.op != Op::kRead) continue;
      for (EventIndex r : spread(reads.events, kSamples)) {
        if (in.model.link[r] == kNone || in.order.ordered(first, r) || in.order.ordered(r, first)) continue;
        Group& group = groups_.group({1, in.model.site[first], reads.site});
        group.kind = FindingKind::kOrder;
        group.pattern = "read-before-write";
        group.score = in.model.link[r] == first ? 1.0 : 0.5;
        GroupTable::add(group, {{r, first}, {{r}, {first}}});
      }
    }
  }

  GroupTable groups_;
};

}  // namespace

std::unique_ptr<Analysis> make_orders() { return std::make_unique<Orders>(); }

}  // namespace reweave
