// What the fronts report, against exhaustive search on thousands of random small traces: nothing infeasible is
// reported; with two threads, whatever fits a pattern and is feasible is reported. Every event has a site of its own,
// so a group has one instance and nothing is lost to sampling.
#define BOOST_TEST_MODULE predictor_fronts
#include <boost/test/included/unit_test.hpp>

#include <map>
#include <set>
#include <string>

#include "predictor/predict.h"
#include "predictor/trace_builder.h"
#include "tests/predictor/oracle.h"
#include "tests/predictor/random_trace.h"

namespace reweave::testing {
namespace {

using Sites = std::vector<std::uint32_t>;

TraceModel build(const std::vector<TraceEvent>& events, bool collapse) {
  TraceBuilder builder(TraceBuilder::Options{collapse});
  for (const TraceEvent& e : events) builder.add(e, static_cast<std::uint32_t>(e.pc));
  return builder.finish();
}

// Pattern instances of a trace by the definition of each pattern, without any filter.
class Expected {
 public:
  explicit Expected(const TraceModel& model) : m_(model), oracle_(model) {}

  // The sites of the feasible ones, by pattern.
  std::map<std::string, std::set<Sites>> all() {
    for (EventIndex e = 0; e < m_.size(); ++e) {
      if (m_.op[e] == Op::kWait && m_.signals[m_.object[e]].thread == kNone) lost_wakeup(e);
      if (m_.op[e] == Op::kWait) held_across(e);
      if (m_.op[e] == Op::kRead && (m_.flags[e] & kNull) != 0 && !m_.is_atomic(e)) null_use(e);
      if (m_.op[e] == Op::kFree) frees(e);
      if (m_.op[e] == Op::kExit) exits(e);
    }
    return std::move(found_);
  }

 private:
  void add(const std::string& pattern, const std::vector<EventIndex>& events, const OrderQuery& query) {
    if (!oracle_.feasible(query)) return;
    Sites sites;
    for (EventIndex e : events) sites.push_back(m_.site[e]);
    found_[pattern].insert(sites);
  }

  bool other(EventIndex a, EventIndex b) const { return m_.thread[a] != m_.thread[b]; }

  void lost_wakeup(EventIndex w) {
    EventIndex last = kNone;  // two threads: only one other
    for (EventIndex n = 0; n < m_.size(); ++n) {
      if (m_.op[n] == Op::kNotify && m_.object[n] == m_.object[w] && other(n, w)) last = n;
    }
    if (last != kNone && !idle(w)) add("lost-wake-up", {last, w}, {{last}, {w}});
  }
  // It waited to the end, and the process ended by itself.
  bool idle(EventIndex w) const {
    const std::uint32_t t = m_.thread[w];
    const bool woken = [&] {
      for (std::uint32_t pos = m_.position[w] + 1; pos + 1 < m_.thread_size(t); ++pos) {
        if (m_.op[m_.at(t, pos)] == Op::kSync) return true;
      }
      return false;
    }();
    return !woken && m_.size() > 0 && m_.op[m_.size() - 1] == Op::kExit;
  }

  void held_across(EventIndex w) {
    EventIndex last = kNone;
    for (EventIndex n : m_.waking_of[m_.object[w]]) {
      if (other(n, w)) last = n;
    }
    if (last == kNone) return;
    for (std::uint32_t node = m_.held[w]; node != 0; node = m_.held_nodes[node].parent) {
      const EventIndex mine = m_.held_nodes[node].acquire;
      if (m_.link[mine] != kNone && m_.source[m_.link[mine]] == m_.source[w]) continue;  // the wait releases it
      for (EventIndex b = 0; b < m_.size(); ++b) {
        if (!m_.is_acquire(b) || m_.object[b] != m_.object[mine] || !other(b, w)) continue;
        if (m_.position[b] >= m_.position[last] || (m_.is_shared(b) && m_.is_shared(mine))) continue;
        add("wait-L2", {w, b}, {{}, {w, b}});
      }
    }
  }

  void null_use(EventIndex r) {
    if (m_.variables[m_.object[r]].bytes != 8) return;
    if (m_.link[r] != kNone && (m_.flags[m_.link[r]] & kNull) != 0) return;  // read null, and went on
    for (EventIndex w : m_.writes_of[m_.object[r]]) {
      if (m_.op[w] != Op::kWrite || (m_.flags[w] & kNull) == 0 || !other(w, r)) continue;
      add("null-use", {w, r}, {{w}, {r}, ReadRule::kAllDecide, r, w});
    }
  }

  void frees(EventIndex f) {
    for (EventIndex g = f + 1; g < m_.size(); ++g) {
      const bool again = m_.op[g] == Op::kFree && m_.object[g] == m_.object[f] && other(g, f);
      if (again) add("double-free", {f, g}, {{f}, {g}});
    }
    for (std::uint32_t v = 0; v < m_.variables.size(); ++v) {
      if (m_.variables[v].block == m_.object[f]) used_after(v);
    }
  }
  void used_after(std::uint32_t v) {
    for (EventIndex f : m_.writes_of[v]) {
      if ((m_.flags[f] & kFrees) == 0) continue;
      for (EventIndex e = 0; e < m_.size(); ++e) {
        if (!m_.is_access(e) || m_.object[e] != v || !other(e, f) || (m_.flags[e] & kFrees) != 0) continue;
        add("use-after-free", {f, e}, {{f}, {e}});
      }
    }
  }

  void exits(EventIndex x) {
    for (std::uint32_t t = 0; t < m_.thread_count(); ++t) {
      const auto& events = m_.threads[t];
      if (t == m_.thread[x] || events.empty() || m_.op[events.back()] != Op::kEnd) continue;
      for (auto e = events.rbegin(); e != events.rend(); ++e) {
        if (!m_.is_write(*e) || (m_.flags[*e] & kFrees) != 0) continue;
        add("exit-before-write", {x, *e}, {{x}, {*e}});
        break;
      }
    }
  }

  const TraceModel& m_;
  Oracle oracle_;
  std::map<std::string, std::set<Sites>> found_;
};

struct Counts {
  std::map<std::string, std::uint32_t> reported;
  std::uint32_t unsound = 0, missed = 0;
};

Counts run(const RandomTraceOptions& options, std::uint32_t traces, std::uint64_t seed, bool complete) {
  Counts counts;
  for (std::uint64_t s = seed; s < seed + traces; ++s) {
    const TraceModel model = build(random_trace(options, s), s % 2 == 0);
    if (model.size() == 0) continue;
    std::map<std::string, std::set<Sites>> found;
    for (const Finding& finding : predict(model, {})) {
      ++counts.reported[finding.pattern.substr(0, finding.pattern.find(' '))];
      if (!Oracle(model, finding.query.rule).feasible(finding.query)) {
        ++counts.unsound;
        BOOST_TEST_MESSAGE("seed " << s << ": infeasible " << finding.pattern);
      }
      Sites sites;
      for (const FindingEvent& e : finding.events) sites.push_back(e.site);
      found[finding.pattern].insert(sites);
    }
    if (!complete) continue;
    for (const auto& [pattern, all] : Expected(model).all()) {
      for (const Sites& sites : all) {
        if (found[pattern].contains(sites)) continue;
        ++counts.missed;
        BOOST_TEST_MESSAGE("seed " << s << ": missed " << pattern << " at " << sites[0] << ", " << sites[1]);
      }
    }
  }
  for (const auto& [pattern, count] : counts.reported) BOOST_TEST_MESSAGE(pattern << ": " << count);
  BOOST_TEST(counts.unsound == 0u);
  BOOST_TEST(counts.missed == 0u);
  return counts;
}

void expect(Counts counts, const std::vector<std::string>& patterns, std::uint32_t at_least = 20) {
  for (const std::string& pattern : patterns) BOOST_TEST(counts.reported[pattern] >= at_least, pattern);
}

BOOST_AUTO_TEST_CASE(waits_of_two_threads) {
  for (const bool branches : {true, false}) {
    const RandomTraceOptions options{.threads = 2, .events = 20, .branches = branches, .conditions = true};
    expect(run(options, 2500, 100'000, true), {"lost-wake-up", "wait-L2", "W1-R2", "R1-W2-W1"}, 10);
  }
}

BOOST_AUTO_TEST_CASE(waits_with_shared_locks) {
  const RandomTraceOptions options{
      .threads = 2, .events = 20, .branches = true, .shared_locks = true, .conditions = true};
  expect(run(options, 1500, 200'000, true), {"lost-wake-up", "wait-L2"}, 10);
}

BOOST_AUTO_TEST_CASE(pointers_and_heap_of_two_threads) {
  for (const bool branches : {true, false}) {
    const RandomTraceOptions options{.threads = 2, .events = 20, .branches = branches, .pointers = true, .heap = true};
    expect(run(options, 1200, 300'000, true), {"null-use", "double-free", "use-after-free", "two"});
  }
}

BOOST_AUTO_TEST_CASE(ends_of_two_threads) {
  const RandomTraceOptions options{.threads = 2, .events = 18, .conditions = true, .ends = true};
  expect(run(options, 800, 400'000, true), {"exit-before-write"});
}

BOOST_AUTO_TEST_CASE(three_threads) {
  const RandomTraceOptions options{.threads = 3,
                                   .events = 20,
                                   .fork_join = true,
                                   .mixed_sizes = true,
                                   .conditions = true,
                                   .pointers = true,
                                   .heap = true,
                                   .ends = true};
  expect(run(options, 500, 500'000, false), {"lost-wake-up", "null-use", "use-after-free"}, 5);
}

BOOST_AUTO_TEST_CASE(four_threads) {
  const RandomTraceOptions options{.threads = 4, .events = 18, .locks = 3, .conditions = true, .pointers = true};
  expect(run(options, 200, 600'000, false), {"lost-wake-up", "null-use"}, 5);
}

}  // namespace
}  // namespace reweave::testing
