// dpor: dynamic partial-order reduction with source sets and sleep sets (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014):
// of the schedules that differ only in the order of independent operations, one is run to its end.
//
// hapset: the same, guided by history-aware predecessor sets (Wang, Said, Gupta, ICSE 2011): an order of two statements
// that occurred in some passing run is not tried again. Incomplete, but far shorter. A statement is a call site; its
// callers are not distinguished. When nothing new is left, it starts again and also exchanges operations that others,
// such as locks, order: with reversals of the latter left out, dpor would not reach these. An operation is then
// exchanged with the latest conflicting one of which the order is new, as in the paper. Sleep sets would assume that
// everything else was tried, so this part has none.
//
// Departures from the papers: an attempt at a lock that blocks is not an event; the mutex that a condition wait
// releases is not followed; a join happens after everything of all threads that have ended.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "explorer/searches/happens_before.h"
#include "explorer/searches/hapset_store.h"
#include "explorer/searches/prefix_goal.h"
#include "explorer/searches/search.h"
#include "formats/base/error.h"

namespace reweave {

namespace {

// Reversals are sought only among this many first choices of a run. The path to a later one would be too long to keep,
// and a run that long mostly repeats itself.
constexpr std::size_t kLongestPath = 20'000;
// For two choices farther apart than this, every enabled thread is taken as one that could come first.
constexpr std::size_t kFarthestReversal = 2'000;

// A state on the path of the latest run, and the choice made in it.
struct State {
  ChoiceNote chosen;
  std::vector<ThreadId> enabled;
  std::set<ThreadId> backtrack;
  std::set<ThreadId> asked;              // requested from here, whether or not the run came this far
  std::map<ThreadId, ChoiceNote> done;   // explored from here, with their operations
  std::map<ThreadId, ChoiceNote> sleep;  // threads asleep when the state was reached
};

using Locks = std::vector<std::uint64_t>;

// The locks that the thread of each choice holds before it. Attempts that may fail and shared locks are left out.
std::vector<Locks> locks_held(const Observation& run) {
  std::vector<Locks> now(run.threads()), held;
  for (std::size_t i = 0; i < run.size(); i++) {
    Locks& mine = now[run[i].thread];
    held.push_back(mine);
    if (kind_of(run[i]) == OpKind::kUnlock) std::erase(mine, run[i].object);
    const bool takes = kind_of(run[i]) == OpKind::kLock && static_cast<LockMode>(run[i].detail) == LockMode::kExclusive;
    if (takes && std::ranges::find(mine, run[i].object) == mine.end()) mine.push_back(run[i].object);
  }
  return held;
}

bool have_common(const Locks& one, const Locks& other) { return std::ranges::find_first_of(one, other) != one.end(); }

class Dpor : public Search {
 public:
  Dpor(const SearchOptions& options, bool guided) : guided_(guided), options_(options) {
    if (guided_ && !options_.learned.empty()) history_.load(options_.learned);
  }
  ~Dpor() override {
    if (!guided_ || options_.learned.empty()) return;
    try {
      history_.save(options_.learned);
    } catch (const Error& error) {
      fmt::print(stderr, "reweave: cannot save what was learned: {}\n", error.what());
    }
  }

  std::optional<RunRequest> next() override {
    if (waiting_ || finished_) return {};
    waiting_ = true;
    if (!started_) {
      started_ = true;
      prefix_ = 0;
      return prefix_request({});
    }
    while (!path_.empty()) {
      if (const std::optional<ThreadId> thread = alternative(path_.back())) return branch(*thread);
      path_.pop_back();
    }
    if (guided_ && !hidden_too_) {
      hidden_too_ = true;
      prefix_ = 0;
      return request_for({}, {});
    }
    waiting_ = false;
    finished_ = true;
    return {};
  }

  void learn(const RunRequest& request, const RunResult& result) override {
    waiting_ = false;
    // Choices have the same numbers only while the same sites are schedule points.
    if (runs_++ == 0) quiet_ = request.quiet;
    const Observation& run = result.observed;
    if (!extend(run)) redundant_++;
    if (guided_ && !result.failed()) history_.learn(run);
    // Races before the new part were handled when that part was new.
    const std::size_t begin = prefix_ == 0 ? 0 : prefix_ - 1, end = std::min(path_.size(), run.size());
    const HappensBefore order(run);
    if (hidden_too_) return look_for_hidden_orders(run, order, begin, end);
    for (std::size_t i = begin; i < end; i++)
      for (const std::size_t j : order.races_of(i))
        if (!guided_ || !history_.knows(run[i].pc, run[j].pc)) add_backtrack(run, order, j, i);
  }

  bool complete() const override { return finished_; }
  std::string report() const override {
    std::string text =
        std::to_string(runs_ - redundant_) + " classes of schedules, " + std::to_string(redundant_) + " redundant runs";
    return finished_ ? text + (guided_ ? "; nothing new is left" : "; all were tried") : text;
  }

 private:
  static std::optional<ThreadId> alternative(const State& state) {
    for (const ThreadId thread : state.backtrack)
      if (!state.done.contains(thread) && !state.sleep.contains(thread) && !state.asked.contains(thread)) return thread;
    return {};
  }

  // The run that takes `thread` in the last state of the path.
  RunRequest branch(ThreadId thread) {
    path_.back().asked.insert(thread);
    std::vector<ThreadId> choices;
    for (std::size_t i = 0; i + 1 < path_.size(); i++) choices.push_back(path_[i].chosen.thread);
    choices.push_back(thread);
    std::vector<Sleeper> sleepers;
    auto add = [&](const std::map<ThreadId, ChoiceNote>& notes) {
      if (hidden_too_) return;
      for (const auto& [id, note] : notes)
        if (id != thread) sleepers.push_back({note.object, id, note.kind, note.is_write, note.detail});
    };
    add(path_.back().sleep);
    add(path_.back().done);
    prefix_ = choices.size();
    return request_for(choices, sleepers);
  }

  RunRequest request_for(const std::vector<ThreadId>& choices, const std::vector<Sleeper>& sleepers) const {
    RunRequest request = prefix_request(choices, sleepers);
    request.quiet = quiet_;
    request.own_quiet = true;
    return request;
  }

  // Appends the new part of the run to the path. False if there is none, because only sleeping threads could run, or
  // the run was not observed as far as the path.
  bool extend(const Observation& run) {
    if (run.size() < prefix_) return false;
    for (std::size_t i = prefix_ == 0 ? 0 : prefix_ - 1; i < std::min(run.size(), kLongestPath); i++) {
      if (i >= path_.size()) {
        State state;
        state.enabled.assign(run.enabled(i).begin(), run.enabled(i).end());
        if (i > 0 && !hidden_too_) state.sleep = still_asleep(path_[i - 1]);
        state.backtrack.insert(run[i].thread);
        path_.push_back(std::move(state));
      }
      State& state = path_[i];
      if (state.sleep.contains(run[i].thread)) {
        path_.resize(i);
        return false;
      }
      state.chosen = run[i];
      state.done[run[i].thread] = run[i];
    }
    return true;
  }

  static std::map<ThreadId, ChoiceNote> still_asleep(const State& state) {
    std::map<ThreadId, ChoiceNote> sleep;
    for (const auto* notes : {&state.sleep, &state.done})
      for (const auto& [id, note] : *notes)
        if (id != state.chosen.thread && !dependent(note, state.chosen)) sleep[id] = note;
    return sleep;
  }

  // For each choice: finds the latest conflicting one that has always come first so far, and lets another thread run in
  // its state.
  void look_for_hidden_orders(const Observation& run, const HappensBefore& order, std::size_t begin, std::size_t end) {
    const HappensBefore starts(run, false);
    const std::vector<Locks> held = locks_held(run);
    for (std::size_t i = begin; i < end; i++)
      for (const std::size_t j : starts.conflicts_not_before(i)) {
        if (history_.knows(run[i].pc, run[j].pc) || have_common(held[i], held[j])) continue;
        if (order.before_start(j, i))
          let_others_run(run, order, j, i);
        else
          add_backtrack(run, order, j, i);
        break;
      }
  }

  // In the state of j, lets the thread of i run or, if it cannot, a thread that it waits for.
  void let_others_run(const Observation& run, const HappensBefore& order, std::size_t j, std::size_t i) {
    State& state = path_[j];
    const auto possible = [&](ThreadId thread) {
      return std::ranges::find(state.enabled, thread) != state.enabled.end();
    };
    if (possible(run[i].thread)) {
      state.backtrack.insert(run[i].thread);
      return;
    }
    for (std::size_t k = j + 1; k < i && k - j <= kFarthestReversal; k++)
      if (run[k].thread != run[j].thread && possible(run[k].thread) && order.before(k, i)) {
        state.backtrack.insert(run[k].thread);
        return;
      }
    state.backtrack.insert(state.enabled.begin(), state.enabled.end());
  }

  // For choices j and i that can be exchanged: ensures that, in the state of j, some run makes a choice that leads to i
  // before j.
  void add_backtrack(const Observation& run, const HappensBefore& order, std::size_t j, std::size_t i) {
    State& state = path_[j];
    if (i - j > kFarthestReversal) {
      state.backtrack.insert(state.enabled.begin(), state.enabled.end());
      return;
    }
    const std::vector<ThreadId> initials = initials_of(run, order, j, i);
    for (const ThreadId thread : initials)
      if (state.backtrack.contains(thread)) return;
    auto possible = [&](ThreadId t) {
      return std::find(state.enabled.begin(), state.enabled.end(), t) != state.enabled.end();
    };
    if (std::find(initials.begin(), initials.end(), run[i].thread) != initials.end() && possible(run[i].thread)) {
      state.backtrack.insert(run[i].thread);
      return;
    }
    for (const ThreadId thread : initials)
      if (possible(thread)) {
        state.backtrack.insert(thread);
        return;
      }
    state.backtrack.insert(state.enabled.begin(), state.enabled.end());
  }

  // Threads whose step could be the first in the sequence of choices that do not happen after j, followed by i.
  static std::vector<ThreadId> initials_of(const Observation& run, const HappensBefore& order, std::size_t j,
                                           std::size_t i) {
    std::vector<std::size_t> sequence;
    std::vector<bool> seen(run.threads(), false);
    std::vector<ThreadId> initials;
    for (std::size_t k = j + 1; k <= i; k++) {
      if (k != i && order.before(j, k)) continue;
      const ThreadId thread = run[k].thread;
      // After the exchange, j no longer happens before i.
      auto comes_before = [&](std::size_t e) {
        return k == i ? order.before_start(e, k) || dependent(run[e], run[k]) : order.before(e, k);
      };
      if (!seen[thread] && std::none_of(sequence.begin(), sequence.end(), comes_before)) initials.push_back(thread);
      seen[thread] = true;
      sequence.push_back(k);
    }
    return initials;
  }

  bool guided_;
  bool hidden_too_ = false;  // orders that other operations hide are looked for
  const SearchOptions options_;
  HapsetStore history_;
  std::shared_ptr<const QuietSites> quiet_;
  std::vector<State> path_;
  std::size_t prefix_ = 0;
  bool started_ = false, waiting_ = false, finished_ = false;
  std::uint64_t runs_ = 0, redundant_ = 0;
};

}  // namespace

std::unique_ptr<Search> make_dpor(const SearchOptions& options) { return std::make_unique<Dpor>(options, false); }
std::unique_ptr<Search> make_hapset(const SearchOptions& options) { return std::make_unique<Dpor>(options, true); }

}  // namespace reweave
