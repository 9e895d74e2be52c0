#include "explorer/explain/remedies.h"

#include <algorithm>
#include <initializer_list>

namespace reweave {

namespace {

// Returns the nearest event of the same thread at another place in the code: after `of` if `behind`, otherwise before
// it. Returns `of` if there is none.
Event neighbour(const std::vector<Event>& events, const Event& of, bool behind) {
  const Event* found = &of;
  for (const Event& event : events) {
    if (event.name.thread != of.name.thread || event.name.pc == of.name.pc) continue;
    if (behind && event.choice > of.choice) return event;
    if (!behind && event.choice < of.choice) found = &event;
  }
  return *found;
}

bool any_under_lock(std::initializer_list<const Event*> events) {
  return std::ranges::any_of(events, [](const Event* event) { return !event->locks.empty(); });
}

// With `locks`, the block extends from the acquisition of the locks to their release, because threads must be stopped
// before they take them.
AssumedCode::Block block_of(const Event& begin, const Event& end, bool locks) {
  if (!locks) return {begin.name.pc, end.name.pc};
  return {begin.entry().pc, end.lock_given != 0 ? end.lock_given : end.name.pc};
}

// The assumption that two blocks exclude each other: the broken one, and the other thread's uses of the object up to
// the one that breaks it. If locks are held, the rivals are given by their code instead of the object.
AssumedCode uninterrupted(const Event& begin, const Event& end, const Event& between,
                          const std::vector<Event>& events) {
  const Event* other = &between;
  for (const Event& event : events)
    if (event.choice < between.choice && event.name.thread == between.name.thread &&
        event.note.object == between.note.object)
      other = &event;
  const bool locks = any_under_lock({&begin, &end, &between, other});
  AssumedCode code;
  code.blocks.push_back(block_of(begin, end, locks));
  const AssumedCode::Block others = block_of(*other, between, locks);
  if (other != &between && others != code.blocks.front()) code.blocks.push_back(others);
  if (locks) code.rivals.push_back(between.entry().pc);
  return code;
}

Remedy try_assumption(Laboratory& laboratory, const Event& begin, const Event& end, const AssumedCode& code,
                      std::uint64_t runs) {
  const HeldGoals held = held_under(code);
  Guide guide = at_random(held.orders);
  guide.regions = held.regions;
  return {code.then == 0, begin, end, code, laboratory.rate(guide, runs, 1)};
}

class Remedies {
 public:
  Remedies(Laboratory& laboratory, const Flip& flip, const std::vector<Event>& failing, std::uint64_t runs,
           const SamePlace& same_place)
      : laboratory_(laboratory), flip_(flip), failing_(failing), runs_(runs), same_place_(same_place) {}

  std::vector<Remedy> attempt_all() {
    if (!flip_.block_tells && has_roles()) try_order();
    const bool prevented = !tried_.empty() && tried_.back().rate.never();
    if (flip_.block && !prevented) try_blocks();
    std::erase_if(tried_, [](const Remedy& remedy) { return remedy.rate.tried == 0; });
    return std::move(tried_);
  }

 private:
  // True if no run fails under the assumption.
  bool attempt(const Event& begin, const Event& end, const AssumedCode& code) {
    tried_.push_back(try_assumption(laboratory_, begin, end, code, runs_));
    return tried_.back().rate.never();
  }

  // True if neither thread has executed the other's code before its own. Otherwise both threads execute the same code,
  // and "one only after the other" would be true within each thread, or in no run.
  bool has_roles() const {
    const auto comes_earlier = [&](const Event& code, const Event& before) {
      return std::ranges::any_of(failing_, [&](const Event& event) {
        return event.name.thread == before.name.thread && event.choice < before.choice &&
               same_place_(event.name.pc, code.name.pc);
      });
    };
    const auto& [first, then] = flip_.pair;
    return !comes_earlier(then, first) && !comes_earlier(first, then);
  }

  void try_order() {
    AssumedCode code;
    code.first = flip_.pair.then.name.pc;
    code.then = flip_.pair.first.name.pc;
    attempt(flip_.pair.then, flip_.pair.first, code);
  }

  void try_blocks() {
    constexpr int kMostWidenings = 3;
    Event begin = flip_.block->begin, end = flip_.block->end;
    for (int i = 0; i <= kMostWidenings && !laboratory_.time_is_up(); i++) {
      AssumedCode code = uninterrupted(begin, end, flip_.block->between, failing_);
      add_copy(code, begin, end);
      if (attempt(begin, end, code)) return;
      Event& side = i % 2 == 0 ? end : begin;
      side = neighbour(failing_, side, i % 2 == 0);
    }
  }

  // If the other thread runs through another copy of the block's code, because a function is inlined several times,
  // this copy is a block too.
  void add_copy(AssumedCode& code, const Event& begin, const Event& end) const {
    const Event* first = nullptr;
    for (const Event& event : failing_) {
      if (event.name.thread != flip_.block->between.name.thread) continue;
      if (same_place_(event.name.pc, begin.name.pc)) first = &event;
      if (first == nullptr || !same_place_(event.name.pc, end.name.pc)) continue;
      const AssumedCode::Block copy = block_of(*first, event, any_under_lock({first, &event}));
      if (std::ranges::find(code.blocks, copy) == code.blocks.end() && code.blocks.size() < kMostRegions)
        code.blocks.push_back(copy);
      return;
    }
  }

  Laboratory& laboratory_;
  const Flip& flip_;
  const std::vector<Event>& failing_;
  std::uint64_t runs_;
  const SamePlace& same_place_;
  std::vector<Remedy> tried_;
};

}  // namespace

std::vector<Remedy> try_remedies(Laboratory& laboratory, const Flip& flip, const std::vector<Event>& failing,
                                 std::uint64_t runs, const SamePlace& same_place) {
  return Remedies(laboratory, flip, failing, runs, same_place).attempt_all();
}

std::vector<Remedy> try_remedies(Laboratory& laboratory, const OrderSet& set, std::uint64_t runs) {
  if (set.members.size() != 2) return {};
  const EventPair &one = set.members[0].pair, &other = set.members[1].pair;
  const bool crossed =
      one.first.name.thread == other.then.name.thread && one.then.name.thread == other.first.name.thread;
  if (!crossed) return {};
  const auto& [begin, end] = std::ranges::minmax({one.first, other.then}, {}, &Event::choice);
  const auto& [rival_begin, rival_end] = std::ranges::minmax({one.then, other.first}, {}, &Event::choice);
  // If both events of a thread are at the same code, the code may run for different objects and does not distinguish
  // them.
  if (begin.name.pc == end.name.pc || rival_begin.name.pc == rival_end.name.pc) return {};
  const bool locks = any_under_lock({&begin, &end, &rival_begin, &rival_end});
  AssumedCode code;
  code.blocks = {block_of(begin, end, locks), block_of(rival_begin, rival_end, locks)};
  code.rivals = {rival_begin.entry().pc};
  if (rival_end.entry().pc != code.rivals.front()) code.rivals.push_back(rival_end.entry().pc);
  Remedy remedy = try_assumption(laboratory, begin, end, code, runs);
  remedy.for_both = begin.note.object != end.note.object;
  if (remedy.rate.tried == 0) return {};
  return {remedy};
}

std::vector<Remedy> try_remedies(Laboratory& laboratory, const std::vector<LockWait>& cycle, std::uint64_t runs) {
  AssumedCode code;
  for (const LockWait& wait : cycle) {
    if (code.blocks.size() == kMostRegions) break;
    const AssumedCode::Block block = {wait.holds.name.pc, wait.wants.name.pc};
    if (std::ranges::find(code.blocks, block) == code.blocks.end()) code.blocks.push_back(block);
  }
  code.rivals = {code.blocks.front().begin};  // the locks may differ each time, so code is excluded, not an object
  const Remedy remedy = try_assumption(laboratory, cycle.front().holds, cycle.front().wants, code, runs);
  if (remedy.rate.tried == 0) return {};
  return {remedy};
}

}  // namespace reweave
