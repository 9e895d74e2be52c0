// Atomicity violations: thread 1 accesses a variable twice, thread 2 accesses it in between, and no serial order of the
// two would have the same effect. Patterns after Park, Vuduc, Harrold (ICSE 2010): R1-W2-R1, W1-W2-R1, W1-R2-W1,
// R1-W2-W1, W1-W2-W1.
//
// The two accesses of thread 1 are neighbours among its accesses of the variable: inside one critical section, in none,
// or in two sections of one lock (check, then act: the lost update). Sound as an ordering: the witness executes the
// first two events and stops before the third. Whether the two accesses were meant to be atomic is unknown; the score
// estimates it. Cost: one pass over the variables, bounded look-ups per triple of code locations.
#include <algorithm>
#include <array>
#include <map>

#include "predictor/analyses/rows.h"
#include "predictor/model/access_classes.h"
#include "predictor/model/fair_share.h"

namespace reweave {
namespace {

constexpr std::size_t kAtomicitySamples = 6;
constexpr std::uint32_t kAtomicityPartners = 4;

struct Pattern {
  bool first_writes, middle_writes, last_writes;
  const char* name;
  double score;
};
constexpr std::array<Pattern, 5> kPatterns{{
    {false, true, true, "R1-W2-W1", 2.4},
    {false, true, false, "R1-W2-R1", 1.6},
    {true, true, false, "W1-W2-R1", 1.4},
    {true, false, true, "W1-R2-W1", 1.1},
    {true, true, true, "W1-W2-W1", 0.8},
}};

// Pairs of neighbouring accesses of one thread; all pairs have the same code locations and kinds.
struct PairClass {
  std::uint32_t thread;
  std::vector<EventIndex> first, second;
};

class Atomicity : public Analysis {
 public:
  std::vector<Group> propose(const AnalysisInput& input) override {
    waits_.resize(input.model.thread_count());
    for (EventIndex e = 0; e < input.model.size(); ++e) {
      if (input.model.op[e] == Op::kWait) waits_[input.model.thread[e]].push_back(e);
    }
    for (std::uint32_t v = 0; v < input.model.variables.size() && !input.expired(); ++v) variable(input, v);
    return groups_.take();
  }

 private:
  using Places = std::array<std::uint32_t, 3>;  // code locations of a triple

  void variable(const AnalysisInput& in, std::uint32_t v) {
    if (in.model.writes_of[v].empty()) return;
    const auto classes = in.classes_of(v);
    const auto blocks = pair_classes(in.model, v);
    const auto visit_triples = [&](const auto& visit) {
      for (const auto& [key, block] : blocks) {
        for (const AccessClass& middle : classes) {
          if (middle.thread == block.thread || middle.frees) continue;
          visit(block, middle, Places{in.model.site[block.first[0]], middle.site, in.model.site[block.second[0]]});
        }
      }
    };
    FairShare<Places> share(in.limits.pairs);
    visit_triples([&](const PairClass&, const AccessClass&, const Places& places) { share.count(places); });
    visit_triples([&](const PairClass& block, const AccessClass& middle, const Places& places) {
      if (share.takes(places)) matching(in, block, middle);
    });
    in.left_out.pairs += share.left_out();
  }

  void matching(const AnalysisInput& in, const PairClass& block, const AccessClass& middle) {
    for (const Pattern& pattern : kPatterns) {
      if (pattern.first_writes == in.model.is_write(block.first[0]) && pattern.middle_writes == middle.writes() &&
          pattern.last_writes == in.model.is_write(block.second[0])) {
        triple(in, pattern, block, middle);
      }
    }
  }

  using PairKey = std::array<std::uint32_t, 5>;
  static std::map<PairKey, PairClass> pair_classes(const TraceModel& m, std::uint32_t v) {
    std::map<PairKey, PairClass> result;
    const auto all = accesses_of(m, v);
    for (std::size_t i = 1; i < all.size(); ++i) {
      const EventIndex a = all[i - 1], b = all[i];
      if (m.thread[a] != m.thread[b] || ((m.flags[a] | m.flags[b]) & kFrees) != 0) continue;
      PairClass& pairs = result[{m.thread[a], m.site[a], m.site[b], static_cast<std::uint32_t>(m.op[a]),
                                 static_cast<std::uint32_t>(m.op[b])}];
      pairs.thread = m.thread[a];
      pairs.first.push_back(a);
      pairs.second.push_back(b);
    }
    return result;
  }

  void triple(const AnalysisInput& in, const Pattern& pattern, const PairClass& pairs, const AccessClass& middle) {
    const TraceModel& m = in.model;
    Group& group = groups_.group({m.site[pairs.first[0]], middle.site, m.site[pairs.second[0]], pattern.first_writes,
                                  pattern.middle_writes, pattern.last_writes});
    group.kind = FindingKind::kAtomicity;
    group.pattern = pattern.name;
    std::size_t found = 0;
    const std::size_t n = pairs.first.size(), samples = std::min(n, kAtomicitySamples);
    for (std::size_t s = 0; s < samples; ++s) {
      const std::size_t i = samples == 1 ? 0 : s * (n - 1) / (samples - 1);
      found += between(in, group, pattern, pairs.first[i], pairs.second[i], middle);
    }
    if (found > 0 || n <= kAtomicitySamples) return;
    for (EventIndex e : spread(middle.events, kAtomicitySamples)) {  // find a pair that `e` may fall into
      const std::uint32_t first = in.order.before(e)[pairs.thread];
      auto it = std::partition_point(pairs.second.begin(), pairs.second.end(),
                                     [&](EventIndex o) { return m.position[o] < first; });
      if (it == pairs.second.end()) continue;
      const auto i = static_cast<std::size_t>(it - pairs.second.begin());
      consider(in, group, pattern, {pairs.first[i], e, pairs.second[i]});
    }
  }

  std::size_t between(const AnalysisInput& in, Group& group, const Pattern& pattern, EventIndex a, EventIndex c,
                      const AccessClass& middle) {
    const std::uint32_t first = in.order.before(a)[middle.thread];
    auto it = std::partition_point(middle.events.begin(), middle.events.end(),
                                   [&](EventIndex o) { return in.model.position[o] < first; });
    std::size_t found = 0;
    for (std::uint32_t tries = 0; tries < kAtomicityPartners && it != middle.events.end(); ++tries, ++it) {
      if (in.order.ordered(c, *it)) break;
      found += consider(in, group, pattern, {a, *it, c});
    }
    return found;
  }

  // Filters one triple and adds it.
  std::size_t consider(const AnalysisInput& in, Group& group, const Pattern& pattern,
                       const std::array<EventIndex, 3>& e) {
    if (in.order.ordered(e[1], e[0]) || in.order.ordered(e[2], e[1])) return 0;
    // The middle access always comes between the others, such as a thread's work between its start and the use of its
    // result. That is intended.
    if (in.order.ordered(e[0], e[1]) && in.order.ordered(e[1], e[2])) return 0;
    if (!in.model.is_write(e[2]) && waits_between(in.model, e[0], e[2]))
      return 0;  // the thread waits in between for other threads' changes
    bool two_sections = false;
    for (const auto& lock : in.locksets.locks(in.locksets.at(e[1]))) {
      const EventIndex first = in.locksets.section(e[0], lock.id), last = in.locksets.section(e[2], lock.id);
      if (first == kNone || last == kNone) continue;
      if (first == last && !(lock.shared && in.model.is_shared(first)))
        return 0;  // both accesses are in one section, which excludes the middle access
      two_sections |= first != last;
    }
    if (two_sections && rereads(in.model, e)) return 0;
    group.score = std::max(group.score, pattern.score + likelihood(in, e, two_sections));
    // If the middle access reads, its value decides what its thread does next, so in another order the thread may never
    // leave its section. The witness then stops before the section of the last access.
    EventIndex stop = pattern.middle_writes ? e[2] : in.locksets.entry(e[2], e[0]);
    if (in.order.ordered(stop, e[1])) stop = e[2];  // the middle access depends on that section's start
    GroupTable::add(group, {{e[0], e[1], e[2]}, {{e[0], e[1]}, {stop}}});
    return 1;
  }

  bool waits_between(const TraceModel& m, EventIndex a, EventIndex b) const {
    const auto& mine = waits_[m.thread[a]];
    const auto next = std::upper_bound(mine.begin(), mine.end(), a);
    return next != mine.end() && *next < b;
  }

  // True if one place in a loop reads protected data in each iteration. Such a loop gives no sign that an iteration
  // relies on the previous one.
  static bool rereads(const TraceModel& m, const std::array<EventIndex, 3>& e) {
    return m.site[e[0]] == m.site[e[2]] && !m.is_write(e[0]) && !m.is_write(e[2]);
  }

  // Scores the likelihood that the two outer accesses belong to one operation.
  static double likelihood(const AnalysisInput& in, const std::array<EventIndex, 3>& e, bool two_sections) {
    const TraceModel& m = in.model;
    double score = 0;
    if (m.stack[e[0]] == m.stack[e[2]]) score += 0.3;
    if (two_sections) score += 0.2;
    if (m.site[e[0]] == m.site[e[2]]) score -= 0.4;  // more likely the next iteration of a loop
    if (m.is_write(e[0]) && (m.flags[e[2]] & kFeedsWrite) != 0) score -= 0.5;  // more likely the next x = f(x)
    const std::uint32_t distance = m.position[e[2]] - m.position[e[0]];
    return score - (distance > 1000 ? 0.5 : distance > 50 ? 0.2 : 0);
  }

  GroupTable groups_;
  std::vector<std::vector<EventIndex>> waits_;  // by thread
};

}  // namespace

std::unique_ptr<Analysis> make_atomicity() { return std::make_unique<Atomicity>(); }

}  // namespace reweave
