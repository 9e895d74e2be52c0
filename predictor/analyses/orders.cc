// Order violations: something that has to come first, does not. Two of them can be told without knowing the program:
// a heap block used after its release, and a variable read before its first write.
//
// Sound as an ordering: the witness releases the block and stops the user right before the use; or reads, with the
// writer stopped right before its write. A read before the first write may be meant (the code may check for it), so it
// scores low. Locks do not help against wrong order, so no lockset filter. Cost: as races.cc.
#include <algorithm>

#include "predictor/access_classes.h"
#include "predictor/analyses/order_pair.h"
#include "predictor/analyses/rows.h"

namespace reweave {
namespace {

constexpr std::size_t kSamples = 4;
constexpr OrderPattern kUseAfterFree{0, "use-after-free", 2.8};
// Scored by whether the read got the first write's value in the trace. One group if both occur.
constexpr OrderPattern kReadBeforeWrite{1, "read-before-write", 1.0},
    kReadBeforeOtherWrite{1, "read-before-write", 0.5};

class Orders : public Analysis {
 public:
  std::vector<Group> propose(const AnalysisInput& input) override {
    for (std::uint32_t v = 0; v < input.model.variables.size() && !input.expired(); ++v) {
      const auto classes = input.classes_of(v);
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
          propose_order(in, groups_, kUseAfterFree, freed.events.back(), e);
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
        if (in.model.link[r] == kNone) continue;
        propose_order(in, groups_, in.model.link[r] == first ? kReadBeforeWrite : kReadBeforeOtherWrite, r, first);
      }
    }
  }

  GroupTable groups_;
};

}  // namespace

std::unique_ptr<Analysis> make_orders() { return std::make_unique<Orders>(); }

}  // namespace reweave
