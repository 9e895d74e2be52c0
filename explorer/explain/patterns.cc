#include "explorer/explain/patterns.h"

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>

namespace reweave {

namespace {

constexpr std::size_t kWindow = 5;  // the paper's default

bool is_access(const ChoiceNote& note) {
  const OpKind kind = kind_of(note);
  return kind == OpKind::kAccess || kind == OpKind::kAtomic || kind == OpKind::kOther;
}
bool writes(const ChoiceNote& note) { return note.is_write != 0 || is_release(note); }

// R1-W2-R1, W1-W2-R1, W1-R2-W1, R1-W2-W1, W1-W2-W1.
bool is_unserializable(bool first, bool middle, bool last) { return middle ? true : first && last; }

}  // namespace

// The patterns of one run.
class PatternFinder {
 public:
  using Pattern = std::vector<ChoiceNote>;

  std::map<PatternRanking::Key, Pattern> find(const Observation& run) {
    for (std::size_t i = 0; i < run.size(); i++)
      if (is_access(run[i]) && run[i].object != 0 && !run.resumed(i)) access(run[i]);
    for (auto& [object, window] : windows_)
      for (; window.size() > 1; window.pop_front()) look(window);
    return std::move(found_);
  }

 private:
  // Counts consecutive accesses of a thread as one: its last write or, if it made none, its last read.
  void access(const ChoiceNote& note) {
    std::deque<ChoiceNote>& window = windows_[note.object];
    if (!window.empty() && window.back().thread == note.thread) {
      if (writes(note) || !writes(window.back())) window.back() = note;
      return;
    }
    if (window.size() == kWindow) {
      look(window);
      window.pop_front();
    }
    window.push_back(note);
  }

  // Finds the patterns whose first access is the oldest in the window: triples or, if there are none, pairs.
  void look(const std::deque<ChoiceNote>& window) {
    const ChoiceNote& first = window.front();
    bool any = false;
    for (std::size_t last = 2; last < window.size(); last++) {
      if (window[last].thread != first.thread) continue;
      for (std::size_t middle = 1; middle < last; middle++)
        if (window[middle].thread != first.thread &&
            is_unserializable(writes(first), writes(window[middle]), writes(window[last])))
          add({first, window[middle], window[last]}), any = true;
    }
    for (std::size_t then = 1; then < window.size() && !any; then++)
      if (window[then].thread != first.thread && (writes(first) || writes(window[then]))) add({first, window[then]});
  }

  void add(const Pattern& pattern) {
    PatternRanking::Key key;
    for (const ChoiceNote& note : pattern)
      key.emplace_back(note.pc, writes(note), note.thread == pattern.front().thread ? ThreadId{0} : ThreadId{1});
    found_.emplace(std::move(key), pattern);
  }

  std::map<std::uint64_t, std::deque<ChoiceNote>> windows_;
  std::map<PatternRanking::Key, Pattern> found_;
};

void PatternRanking::learn(const Observation& run, bool failed) {
  failed_ += failed ? 1 : 0;
  for (auto& [key, accesses] : PatternFinder().find(run)) {
    RankedPattern& pattern = patterns_[key];
    if (pattern.accesses.empty()) pattern.accesses = accesses;
    (failed ? pattern.failed : pattern.passed)++;
  }
}

std::vector<RankedPattern> PatternRanking::ranked(std::size_t most) const {
  std::vector<RankedPattern> list;
  for (const auto& [key, pattern] : patterns_) {
    if (pattern.failed == 0) continue;
    list.push_back(pattern);
    list.back().of_failed = failed_;
    list.back().suspiciousness = static_cast<double>(pattern.failed) / static_cast<double>(failed_ + pattern.passed);
  }
  std::ranges::stable_sort(list, std::greater<>(), &RankedPattern::suspiciousness);
  for (RankedPattern& pattern : list) {
    const auto ties =
        std::ranges::equal_range(list, pattern.suspiciousness, std::greater<>(), &RankedPattern::suspiciousness);
    pattern.best = static_cast<std::size_t>(ties.begin() - list.begin()) + 1;
    pattern.worst = static_cast<std::size_t>(ties.end() - list.begin());
  }
  if (list.size() > most) list.resize(most);
  return list;
}

}  // namespace reweave
