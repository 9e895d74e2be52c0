// Makes the runs that try a remedy.
#pragma once

#include <initializer_list>

#include "explorer/explain/explanation.h"
#include "explorer/explain/laboratory.h"

namespace reweave {

class Trial {
 public:
  // `found`: the explanation so far. `failing`, `passing`: the events of its runs; `passing` may be empty. All
  // arguments must outlive this.
  Trial(Laboratory& laboratory, const Explanation& found, const std::vector<Event>& failing,
        const std::vector<Event>& passing, std::uint64_t runs, const SamePlace& same_place)
      : laboratory_(laboratory),
        found_(found),
        failing_(failing),
        passing_(passing),
        runs_(runs),
        same_place_(same_place) {}

  const std::vector<Event>& failing() const { return failing_; }
  const std::vector<Event>& passing() const { return passing_; }
  // The nearest passing run; null if there is none.
  const RunResult* passing_run() const { return found_.passing ? &*found_.passing : nullptr; }
  // True if the thread creates or joins a thread within the code in the failing run.
  bool spans_threads(const ThreadCode& code) const {
    return reweave::spans_threads({code.begin, code.end, code.end}, found_.failing.observed);
  }
  bool time_is_up() const { return laboratory_.time_is_up(); }

  bool same_place(const Event& a, const Event& b) const { return same_place_(a.name.pc, b.name.pc); }
  // True if both events are the same kind of operation of the same statement.
  bool same_code(const Event& a, const Event& b) const {
    return a.note.kind == b.note.kind && a.note.is_write == b.note.is_write && same_place(a, b);
  }

  // Makes random schedules under remedy.held and adds the remedy with their rate. If random schedules hardly ever fail
  // without it, also makes schedules that begin like the failing one. Returns true if the remedy works.
  bool attempt(std::vector<Remedy>& tried, Remedy remedy);

  // Adds copies of the block to `code`: a function that is inlined several times has several copies of the same
  // statements. Looks for them in 100 random schedules. `locks`: as for block_of().
  void add_copies(AssumedCode& code, const ThreadCode& block, bool locks);

 private:
  Rate rate_near(const Remedy& remedy);
  const std::vector<std::vector<Event>>& some_runs();

  Laboratory& laboratory_;
  const Explanation& found_;
  const std::vector<Event>&failing_, &passing_;
  std::uint64_t runs_;
  const SamePlace& same_place_;
  std::vector<std::vector<Event>> some_runs_;
};

bool any_under_lock(std::initializer_list<const Event*> events);
// True if the thread holds one lock, without releasing it, from `begin` to `end`.
bool is_held_through(const Event& begin, const Event& end);
// The code from `begin` to `end`. With `locks`, it extends from the acquisition of the locks to their release, because
// threads must be stopped before they take them.
AssumedCode::Block block_of(const Event& begin, const Event& end, bool locks);

}  // namespace reweave
