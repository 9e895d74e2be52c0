// Order violations: an event that must come first does not. Two kinds can be recognised without knowing the program: a
// heap block used after its release, and a variable read before its first write.
//
// Sound as an ordering: the witness releases the block and stops the user right before the use; or the
// reader gets the initial value, with the first writer right before its write if their locks allow it. A read before
// the first write may be intended (the code may check for it), so it scores low; updates of a counter under a lock,
// which may come in any order, are not proposed. Locks do not help against wrong order, so no lockset filter. Cost: as
// races.cc.
#include <algorithm>

#include "predictor/analyses/order_pair.h"
#include "predictor/analyses/rows.h"
#include "predictor/model/access_classes.h"

namespace reweave {
namespace {

constexpr std::size_t kOrderSamples = 4;
constexpr OrderPattern kUseAfterFree{0, "use-after-free", 2.8};
// The first applies if the read got the first write's value in the trace. If both occur, they form one group.
constexpr OrderPattern kReadBeforeWrite{1, "read-before-write", 1.0},
    kReadBeforeOtherWrite{1, "read-before-write", 0.5};

// True if both threads change the variable by x = f(x), each within a section that excludes the other, and the value
// read is not used elsewhere. An example is a counter protected by a lock, where neither change has to come first.
bool are_whole_updates(const AnalysisInput& in, EventIndex read, EventIndex write) {
  const TraceModel& m = in.model;
  constexpr std::uint8_t kUpdates = kDecidesNothing | kFeedsWrite;
  if ((m.flags[read] & kUpdates) != kUpdates) return false;
  if (in.locksets.compatible(in.locksets.at(read), in.locksets.at(write))) return false;
  const std::uint32_t variable = m.object[write], reader = m.thread[read], writer = m.thread[write];
  const auto length = static_cast<std::uint32_t>(m.threads[reader].size());
  const EventIndex read_before = m.last_before(m.reads_of[variable], writer, m.position[write]);
  const EventIndex written_after = m.first_from(m.writes_of[variable], reader, m.position[read], length);
  return read_before != kNone && (m.flags[read_before] & kFeedsWrite) != 0 && m.held[read_before] == m.held[write] &&
         m.held[read] == m.held[written_after];
}

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
        for (EventIndex e : spread(use.events, kOrderSamples)) {
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
      for (EventIndex r : spread(reads.events, kOrderSamples)) {
        if (in.model.link[r] == kNone || are_whole_updates(in, r, first)) continue;
        unwritten(in, r, first);
      }
    }
  }

  // Proposes an order in which `read` gets the initial value. The thread of `first` is then right before its write,
  // unless both threads would have to be in sections that exclude each other. If they exclude each other and there is
  // only one write to wait for, the reader is meant to check for it.
  void unwritten(const AnalysisInput& in, EventIndex read, EventIndex first) {
    if (in.order.ordered_before_reaching(first, read)) return;
    const bool excluded = !in.locksets.compatible(in.locksets.at(read), in.locksets.at(first));
    const bool from_first = in.model.link[read] == first;
    if (excluded && from_first && !in.model.decides_nothing(read)) return;
    OrderQuery query = {{read}, {first}, ReadRule::kAllDecide, read, kNone};
    if (excluded) query = {{}, {read}, ReadRule::kAllDecide, read, kNone};
    GroupTable::add(order_group(in, groups_, from_first ? kReadBeforeWrite : kReadBeforeOtherWrite, read, first),
                    {{read, first}, query});
  }

  GroupTable groups_;
};

}  // namespace

std::unique_ptr<Analysis> make_orders() { return std::make_unique<Orders>(); }

}  // namespace reweave
