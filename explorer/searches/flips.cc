// flips: takes an earlier run and reverses only the order of two conflicting operations: the later one comes right
// before the earlier one, whose thread then continues as before. Only orders that no run has shown between these two
// places in the code are requested. New orders in such a run are flipped in turn, so that a value that no earlier run
// has produced leads to further runs.
#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "explorer/run/events.h"
#include "explorer/run/guide.h"
#include "explorer/searches/flips.h"

namespace reweave {

namespace {

constexpr std::size_t kMostChoices = 20'000;        // of a run that is flipped
constexpr std::size_t kMostWaitingFlips = 100'000;  // flips

// Places in the code: of an operation, of the next operation on the same object by another thread, and of that thread's
// previous operation on the object (0: none). So an interrupted block differs from an uninterrupted one.
using Places3 = std::array<std::uint64_t, 3>;

// A run to continue from.
struct Base {
  SwitchList switches;
  unsigned flips;  // number of flips that led to it
};

struct PlannedFlip {
  std::shared_ptr<const Base> base;
  std::vector<OrderGoal> orders;
  std::vector<OrderGoal> otherwise;  // tried if `orders` are not feasible; empty: nothing
  Places3 shows = {};
  double weight = 0;
  std::uint64_t number = 0;  // among equal weights the lowest goes first

  bool operator<(const PlannedFlip& other) const {
    return weight != other.weight ? weight < other.weight : number > other.number;
  }
};

// An index of a run for repeated look-ups.
class RunIndex {
 public:
  explicit RunIndex(const Observation& run) : events_(events_of(run)) {
    for (std::size_t i = 0; i < events_.size(); i++) {
      const Event& event = events_[i];
      by_thread_[event.name.thread].push_back(i);
      uses_[{event.name.thread, event.note.object}].push_back({event.choice, event.name.pc});
    }
    for (std::size_t i = 0; i < run.size(); i++) {
      begun_.try_emplace(run[i].thread, i);
      for (const ThreadId thread : run.enabled(i)) begun_.try_emplace(thread, i);
    }
  }
  const std::vector<Event>& events() const { return events_; }

  bool has_begun(ThreadId thread, std::size_t choice) const {
    const auto found = begun_.find(thread);
    return found != begun_.end() && found->second <= choice;
  }

  // The places that a run shows in which `first` comes directly before `then`.
  Places3 places_of(const Event& first, const Event& then) const {
    const auto uses = uses_.find({then.name.thread, then.note.object});
    const std::size_t until = std::min(first.choice, then.choice);
    std::uint64_t before = 0;
    if (uses != uses_.end()) {
      const auto behind = std::ranges::lower_bound(uses->second, until, {}, &Use::choice);
      if (behind != uses->second.begin()) before = std::prev(behind)->pc;
    }
    return {first.name.pc, then.name.pc, before};
  }

  // The next event of the same thread at which it does not hold `lock`; null if there is none.
  const Event* next_without(const Event& event, std::uint64_t lock) const {
    const std::vector<std::size_t>& mine = by_thread_.at(event.name.thread);
    const auto choice = [&](std::size_t i) { return events_[i].choice; };
    for (auto i = std::ranges::upper_bound(mine, event.choice, {}, choice); i != mine.end(); i++)
      if (std::ranges::find(events_[*i].locks, lock, &TakenLock::object) == events_[*i].locks.end())
        return &events_[*i];
    return nullptr;
  }

 private:
  struct Use {
    std::size_t choice;
    std::uint64_t pc;
  };
  std::vector<Event> events_;
  std::map<ThreadId, std::vector<std::size_t>> by_thread_;
  std::map<std::pair<ThreadId, std::uint64_t>, std::vector<Use>> uses_;  // by thread and object
  std::map<ThreadId, std::size_t> begun_;  // the first choice in which the thread could run
};

class Flips : public FlipSearch {
 public:
  explicit Flips(bool begins) : begun_(!begins) {}

  std::optional<RunRequest> next() override {
    if (!begun_) {
      begun_ = true;
      asked_.push_back({});
      RunRequest request = request_of(SwitchList{});
      request.observe = true;
      return request;
    }
    while (!flips_.empty()) {
      const PlannedFlip flip = flips_.top();
      flips_.pop();
      if (seen_.contains(flip.shows)) continue;  // a run has shown it in the meantime
      Guide guide;
      guide.switches = flip.base->switches;
      guide.orders = flip.orders;
      RunRequest request = request_of(guide, 1);
      if (request.goal.size() > kGoalBytes) continue;
      request.observe = true;
      request.own_quiet = true;
      request.source = "flips";
      asked_.push_back(flip);
      return request;
    }
    return {};
  }

  void learn(const RunRequest&, const RunResult& result) override {
    PlannedFlip flip = std::move(asked_.front());
    asked_.pop_front();
    const unsigned flips = flip.base == nullptr ? 0 : flip.base->flips + 1;
    if (result.guide.let_go != 0 && !flip.otherwise.empty()) {
      flip.orders = std::exchange(flip.otherwise, {});
      flips_.push(std::move(flip));
    }
    see(result, flips);
  }

  void see(const RunResult& result, unsigned flips) override {
    const Observation& run = result.observed;
    if (run.empty() || run.truncated() || run.size() > kMostChoices || result.called_off) return;
    const RunIndex index(run);
    const std::vector<EventPair> pairs = direct_pairs(index.events());
    for (const EventPair& pair : pairs) seen_.insert(index.places_of(pair.first, pair.then));
    if (result.failed()) return;
    const auto base = std::make_shared<const Base>(Base{switches_of(result), flips});
    for (const EventPair& pair : pairs) add(base, index, pair);
  }

  bool complete() const override { return begun_ && flips_.empty() && asked_.empty(); }

 private:
  void add(const std::shared_ptr<const Base>& base, const RunIndex& run, const EventPair& pair) {
    const Places3 shows = run.places_of(pair.then, pair.first);
    if (seen_.contains(shows) || flips_.size() >= kMostWaitingFlips) return;
    if (!run.has_begun(pair.then.name.thread, pair.first.entry_choice()))
      return;  // it cannot come first: its thread did not exist
    if (unsigned& times = asked_for_[shows]; times++ >= kMostOfPlaces) return;
    PlannedFlip flip;
    flip.base = base;
    flip.shows = shows;
    flip.weight = weight_of(pair, base->flips);
    flip.number = number_++;
    const Event* next = next_of(run, pair);
    const auto held_at = [&](const Arrival& place) {
      std::vector<OrderGoal> orders = {{pair.then.name, place}};
      if (next != nullptr) orders.push_back({pair.first.name, next->name});
      return orders;
    };
    const TakenLock* lock = common_lock(pair);
    flip.orders = held_at(lock == nullptr ? pair.first.name : lock->taken);
    // On its way to that place, the other thread may need other locks, which the waiting thread holds.
    if (flip.orders.front().then != pair.first.entry()) flip.otherwise = held_at(pair.first.entry());
    if (!asked_orders_.insert({base, flip.orders.front().then, lock_of(pair.then, lock)}).second) return;
    flips_.push(std::move(flip));
  }

  // A lock that both threads hold; null if there is none. For accesses under a common lock, only the order of its
  // acquisitions can be reversed.
  static const TakenLock* common_lock(const EventPair& pair) {
    for (const TakenLock& lock : pair.first.locks)
      if (std::ranges::find(pair.then.locks, lock.object, &TakenLock::object) != pair.then.locks.end()) return &lock;
    return nullptr;
  }
  // The acquisition of `lock` by the thread of `event`, or the event itself if `lock` is null.
  static Arrival lock_of(const Event& event, const TakenLock* lock) {
    if (lock == nullptr) return event.name;
    return std::ranges::find(event.locks, lock->object, &TakenLock::object)->taken;
  }

  // The next event of `then`'s thread at which it no longer holds the lock that the other thread needs.
  static const Event* next_of(const RunIndex& run, const EventPair& pair) {
    const TakenLock* common = common_lock(pair);
    const bool takes_lock = kind_of(pair.then.note) == OpKind::kLock;
    return run.next_without(pair.then, common != nullptr ? common->object : takes_lock ? pair.then.note.object : 0);
  }

  static double weight_of(const EventPair& pair, unsigned flips) {
    constexpr double kRelease = 3, kMemory = 2, kDepth = 0.75;
    if (is_release(pair.then.note)) return kRelease - kDepth * flips;  // the block is used after it is freed
    const OpKind kind = kind_of(pair.then.note);
    const bool memory = !is_sync(pair.first.note) && !is_sync(pair.then.note);
    return (memory || kind == OpKind::kLock ? kMemory : 0) - kDepth * flips;
  }

  static constexpr unsigned kMostOfPlaces = 3;  // flips of the same two places

  bool begun_;
  std::deque<PlannedFlip> asked_;  // requested; without a base: the undisturbed run
  std::set<Places3> seen_;
  std::map<Places3, unsigned> asked_for_;
  std::set<std::tuple<std::shared_ptr<const Base>, Arrival, Arrival>> asked_orders_;
  std::priority_queue<PlannedFlip> flips_;
  std::uint64_t number_ = 0;
};

}  // namespace

std::unique_ptr<FlipSearch> make_flip_search(const SearchOptions&, bool begins) {
  return std::make_unique<Flips>(begins);
}

std::unique_ptr<Search> make_flips(const SearchOptions& options) { return make_flip_search(options, true); }

}  // namespace reweave
