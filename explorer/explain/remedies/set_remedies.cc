// Remedies for failures that need several orders at once, or end in a cycle of locks.
#include <algorithm>

#include "explorer/explain/remedies/remedies.h"

namespace reweave {

namespace {

bool is_memory_event(const Event& event) {
  return kind_of(event.note) == OpKind::kAccess || kind_of(event.note) == OpKind::kAtomic;
}

// Two orders of two threads: each thread executes one event of both. `begin` and `end` are those of the thread that is
// first in the failing run.
struct Crossing {
  ThreadCode code, other;
  Event begin_rival, end_rival;  // the event of the other thread in the same pair
};

std::optional<Crossing> crossing_of(const OrderSet& set) {
  if (set.members.size() != 2) return {};
  const EventPair &one = set.members[0].pair, &two = set.members[1].pair;
  const bool crossed = one.first.name.thread == two.then.name.thread && one.then.name.thread == two.first.name.thread;
  if (!crossed) return {};
  Crossing crossing = {{one.first, two.then}, {one.then, two.first}, one.then, two.first};
  if (crossing.code.begin.choice > crossing.code.end.choice) {
    std::swap(crossing.code.begin, crossing.code.end);
    std::swap(crossing.begin_rival, crossing.end_rival);
  }
  if (crossing.other.begin.choice > crossing.other.end.choice) std::swap(crossing.other.begin, crossing.other.end);
  // If both events of a thread are at the same code, the code may run for different objects and does not distinguish
  // them.
  const auto is_one_place = [](const ThreadCode& code) { return code.begin.name.pc == code.end.name.pc; };
  if (is_one_place(crossing.code) || is_one_place(crossing.other)) return {};
  return crossing;
}

class SetRemedies {
 public:
  SetRemedies(Trial& trial, const Crossing& crossing)
      : trial_(trial), code_(crossing.code), other_(crossing.other), crossing_(crossing) {}

  std::vector<Remedy> attempt_all() {
    if (!try_waiters_lock() && !try_swap()) try_exclusion();
    return std::move(tried_);
  }

 private:
  bool attempt(Remedy remedy) {
    remedy.held = held_under(remedy.code);
    return trial_.attempt(tried_, std::move(remedy));
  }

  // A wake-up is lost if what the waiter has tested under its lock changes without that lock before it waits: then the
  // writer has to hold the lock.
  bool try_waiters_lock() {
    if (kind_of(code_.end.note) != OpKind::kWait || !is_held_through(code_.begin, code_.end)) return false;
    const Event& change = crossing_.begin_rival;
    const bool holds = std::ranges::any_of(
        change.locks, [&](const TakenLock& lock) { return lock.object == code_.end.locks.front().object; });
    if (holds || !is_memory_event(change)) return false;
    Remedy remedy = {Advice::kHoldAround, code_.begin, code_.end, ThreadCode{change, change}};
    remedy.code.blocks = {{code_.begin.name.pc, code_.end.name.pc}};
    remedy.code.rivals = {change.entry().pc};
    return attempt(std::move(remedy));
  }

  // A thread announces with its first write what its second write makes true. Others cannot tell the opposite order of
  // the two writes from a block of both that only uses of the first object may not interrupt.
  bool try_swap() {
    const auto is_write = [](const Event& event) { return is_memory_event(event) && event.note.is_write != 0; };
    const auto is_read = [](const Event& event) { return is_memory_event(event) && event.note.is_write == 0; };
    const bool announces = is_write(code_.begin) && is_write(code_.end) && is_read(other_.begin) &&
                           is_read(other_.end) && code_.begin.note.object == other_.begin.note.object &&
                           code_.begin.note.object != code_.end.note.object;
    if (!announces) return false;
    Remedy remedy = {Advice::kSwap, code_.begin, code_.end};
    remedy.code.blocks = {{code_.begin.name.pc, code_.end.name.pc}};
    trial_.add_copies(remedy.code, code_, false);
    return attempt(std::move(remedy));
  }

  bool try_exclusion() {
    const bool locks = any_under_lock({&code_.begin, &code_.end, &other_.begin, &other_.end});
    Remedy remedy = {Advice::kHoldOver, code_.begin, code_.end, other_};
    AssumedCode& code = remedy.code;
    code.blocks = {block_of(code_.begin, code_.end, locks), block_of(other_.begin, other_.end, locks)};
    code.rivals = {other_.begin.entry().pc};
    if (other_.end.entry().pc != code.rivals.front()) code.rivals.push_back(other_.end.entry().pc);
    if (attempt(remedy)) return true;
    trial_.add_copies(code, code_, locks);
    trial_.add_copies(code, other_, locks);
    return code.blocks.size() > 2 && attempt(std::move(remedy));
  }

  Trial& trial_;
  const ThreadCode &code_, &other_;
  const Crossing& crossing_;
  std::vector<Remedy> tried_;
};

}  // namespace

std::vector<Remedy> try_remedies(Trial& trial, const OrderSet& set) {
  const std::optional<Crossing> crossing = crossing_of(set);
  return crossing ? SetRemedies(trial, *crossing).attempt_all() : std::vector<Remedy>();
}

std::vector<Remedy> try_remedies(Trial& trial, const std::vector<LockWait>& cycle) {
  Remedy remedy = {Advice::kLockOrder, cycle.front().holds, cycle.front().wants};
  for (const LockWait& wait : cycle) {
    if (remedy.code.blocks.size() == kMostRegions) break;
    const AssumedCode::Block block = {wait.holds.name.pc, wait.wants.name.pc};
    if (std::ranges::find(remedy.code.blocks, block) == remedy.code.blocks.end()) remedy.code.blocks.push_back(block);
  }
  // The locks may differ each time, so code is excluded, not an object.
  remedy.code.rivals = {remedy.code.blocks.front().begin};
  remedy.held = held_under(remedy.code);
  std::vector<Remedy> tried;
  trial.attempt(tried, std::move(remedy));
  return tried;
}

}  // namespace reweave
