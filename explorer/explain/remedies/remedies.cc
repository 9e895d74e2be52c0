#include "explorer/explain/remedies/remedies.h"

#include <algorithm>
#include <set>

#include "recorder/arena.h"

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

// The assumption that two blocks exclude each other: the broken one, and the other thread's uses of the object up to
// the one that breaks it. If locks are held, the rivals are given by their code instead of the object.
Remedy uninterrupted(const Event& begin, const Event& end, const Event& between, const std::vector<Event>& events) {
  const Event* other = &between;
  for (const Event& event : events)
    if (event.choice < between.choice && event.name.thread == between.name.thread &&
        event.note.object == between.note.object)
      other = &event;
  const bool locks = any_under_lock({&begin, &end, &between, other});
  Remedy remedy = {Advice::kHoldOver, begin, end, ThreadCode{*other, between}};
  remedy.code.blocks.push_back(block_of(begin, end, locks));
  const AssumedCode::Block others = block_of(*other, between, locks);
  if (other != &between && others != remedy.code.blocks.front()) remedy.code.blocks.push_back(others);
  if (locks) remedy.code.rivals.push_back(between.entry().pc);
  if (is_held_through(begin, end) && between.locks.empty()) remedy.advice = Advice::kHoldAround;
  return remedy;
}

// True if the thread's stack holds the object and the thread begins to use it with a write: the object may be new there
// while the other thread still uses an older one.
bool is_new_on_stack(const Event& begin) {
  return begin.name.thread == 0 && begin.note.is_write != 0 && begin.note.object >= kMmapTop &&
         begin.note.object < kStackTop;
}

class FlipRemedies {
 public:
  FlipRemedies(Trial& trial, const Flip& flip) : trial_(trial), flip_(flip) {}

  std::vector<Remedy> attempt_all(bool misuse) {
    bool prevented = false;
    if (misuse)
      prevented = try_order() || try_wait_for_use() || try_guard();
    else if (!flip_.block_tells)
      prevented = try_order() || try_wait_for_all();
    if (flip_.block && !prevented) try_blocks();
    return std::move(tried_);
  }

 private:
  bool attempt(Remedy remedy) {
    if (remedy.code != AssumedCode()) remedy.held = held_under(remedy.code);
    return trial_.attempt(tried_, std::move(remedy));
  }
  bool attempt_wait(const Event& until, const Event& before) {
    Remedy remedy = {Advice::kWait, until, before};
    remedy.code.first = until.name.pc;
    remedy.code.then = before.name.pc;
    return attempt(std::move(remedy));
  }

  // True if neither thread has executed the other's code before its own. Otherwise both threads execute the same code,
  // and "one only after the other" would be true within each thread, or in no run.
  bool has_roles() const {
    const auto comes_earlier = [&](const Event& code, const Event& before) {
      return std::ranges::any_of(trial_.failing(), [&](const Event& event) {
        return event.name.thread == before.name.thread && event.choice < before.choice &&
               trial_.same_place(event, code);
      });
    };
    const auto& [first, then] = flip_.pair;
    return !comes_earlier(then, first) && !comes_earlier(first, then);
  }

  bool try_order() { return has_roles() && attempt_wait(flip_.pair.then, flip_.pair.first); }

  // If every thread executes the code of `then` before that of `first`, as around a barrier, lets each wait between the
  // two for all others.
  bool try_wait_for_all() {
    const auto& [first, then] = flip_.pair;
    std::map<ThreadId, ThreadCode> threads;
    for (const std::vector<Event>* run : {&trial_.failing(), &trial_.passing()})
      for (const auto& [thread, code] : threads_with(*run, then, first)) threads.emplace(thread, code);
    std::vector<OrderGoal> orders;
    for (const auto& [thread, code] : threads)
      for (const auto& [other, other_code] : threads)
        if (thread != other) orders.push_back({other_code.begin.name, code.end.name});
    if (orders.empty() || orders.size() > kMostOrders) return false;
    return attempt({Advice::kWaitForAll, then, first, {}, {}, {orders, {}}});
  }
  // Returns for each thread its first event at the code of `before` and the next one at the code of `behind`. Empty if
  // a thread comes to `behind` without `before`.
  std::map<ThreadId, ThreadCode> threads_with(const std::vector<Event>& run, const Event& before,
                                              const Event& behind) const {
    std::map<ThreadId, const Event*> begun;
    std::map<ThreadId, ThreadCode> threads;
    for (const Event& event : run) {
      const Event*& begin = begun[event.name.thread];
      if (begin == nullptr && trial_.same_code(event, before)) begin = &event;
      if (!trial_.same_code(event, behind)) continue;
      if (begin == nullptr) return {};
      threads.emplace(event.name.thread, ThreadCode{*begin, event});
    }
    return threads;
  }

  // Lets the release wait for the last use of the block by each thread, as the passing run shows it.
  bool try_wait_for_use() {
    const auto& [first, then] = flip_.pair;
    const Event* release = find_event(trial_.passing(), first.name);
    if (release == nullptr || !is_release(release->note)) return false;
    std::vector<OrderGoal> orders;
    for (const auto& [thread, use] : last_uses(trial_.passing_run()->observed, *release))
      orders.push_back({use, first.name});
    if (orders.empty() || orders.size() > kMostOrders) return false;
    return attempt({Advice::kWaitForUse, then, first, {}, {}, {orders, {}}});
  }
  // By thread. A release of a lock is also a use.
  static std::map<ThreadId, Arrival> last_uses(const Observation& run, const Event& release) {
    std::map<std::pair<ThreadId, std::uint64_t>, std::uint32_t> arrivals;
    std::map<ThreadId, Arrival> last;
    for (std::size_t i = 0; i < run.size(); i++) {
      const ChoiceNote& note = run[i];
      if (run.resumed(i)) continue;
      const Arrival name = {note.pc, ++arrivals[{note.thread, note.pc}], note.thread, 0};
      if (note.thread != release.name.thread && is_in_block(note, release)) last.insert_or_assign(note.thread, name);
    }
    return last;
  }
  static bool is_in_block(const ChoiceNote& note, const Event& release) {
    return note.object >= release.note.object && note.object < release.note.object + release.note.detail;
  }

  // Lets the code that finds the block and uses it exclude the code that takes the block away and releases it. The code
  // of both begins where the two threads use the same object, such as a pointer to the block or a lock.
  bool try_guard() {
    constexpr std::size_t kMostBegins = 4;
    const auto& [release, use] = flip_.pair;
    std::size_t begins = 0;
    for (std::size_t i = trial_.failing().size(); i-- > 0 && begins < kMostBegins && !trial_.time_is_up();) {
      const Event& begin = trial_.failing()[i];
      if (begin.name.thread != use.name.thread || begin.choice >= use.choice || is_in_block(begin.note, release))
        continue;
      const Event* other = first_conflict(begin, release);
      if (other == nullptr) continue;
      if (trial_.spans_threads({begin, use}) || trial_.spans_threads({*other, release})) break;
      begins++;
      Remedy remedy = {Advice::kHoldOver, begin, use, ThreadCode{*other, release}};
      const bool locks = any_under_lock({&begin, &use, other, &release});
      remedy.code.blocks = {block_of(begin, use, locks), block_of(*other, release, locks)};
      remedy.code.rivals = {other->entry().pc};
      if (attempt(std::move(remedy))) return true;
    }
    return false;
  }
  // Returns the first event of the releasing thread, up to the release, that conflicts with `begin`. Null if there is
  // none.
  const Event* first_conflict(const Event& begin, const Event& release) const {
    for (const Event& event : trial_.failing())
      if (event.choice < release.choice && event.name.thread == release.name.thread && conflict(begin, event))
        return &event;
    return nullptr;
  }

  void try_blocks() {
    constexpr int kMostWidenings = 3;
    Event begin = flip_.block->begin, end = flip_.block->end;
    if (is_new_on_stack(begin)) {
      if (flip_.block_tells) attempt_wait(flip_.block->between, begin);
      return;
    }
    for (int i = 0; i <= kMostWidenings && !trial_.time_is_up(); i++) {
      Remedy remedy = uninterrupted(begin, end, flip_.block->between, trial_.failing());
      add_copy(remedy.code, begin, end);
      if (attempt(remedy) || attempt_with_copies(std::move(remedy))) return;
      Event& side = i % 2 == 0 ? end : begin;
      side = neighbour(trial_.failing(), side, i % 2 == 0);
    }
  }

  // The compiler may have made copies of the block that neither thread runs through in the failing run.
  bool attempt_with_copies(Remedy remedy) {
    const std::size_t known = remedy.code.blocks.size();
    trial_.add_copies(remedy.code, {remedy.begin, remedy.end}, any_under_lock({&remedy.begin, &remedy.end}));
    return remedy.code.blocks.size() > known && attempt(std::move(remedy));
  }

  // If the other thread runs through another copy of the block's code, because a function is inlined several times,
  // this copy is a block too.
  void add_copy(AssumedCode& code, const Event& begin, const Event& end) const {
    const Event* first = nullptr;
    for (const Event& event : trial_.failing()) {
      if (event.name.thread != flip_.block->between.name.thread) continue;
      if (trial_.same_place(event, begin)) first = &event;
      if (first == nullptr || !trial_.same_place(event, end)) continue;
      const AssumedCode::Block copy = block_of(*first, event, any_under_lock({first, &event}));
      if (std::ranges::find(code.blocks, copy) == code.blocks.end() && code.blocks.size() < kMostRegions)
        code.blocks.push_back(copy);
      return;
    }
  }

  Trial& trial_;
  const Flip& flip_;
  std::vector<Remedy> tried_;
};

}  // namespace

std::vector<Remedy> try_remedies(Trial& trial, const Flip& flip, bool misuse) {
  return FlipRemedies(trial, flip).attempt_all(misuse);
}

}  // namespace reweave
