// Compares streaming detectors with naive ones, which compute the whole relation, on thousands of random small traces.
// Compares the detectors that claim to be sound with exhaustive search.
#define BOOST_TEST_MODULE predictor_detectors
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "predictor/detectors/detector.h"
#include "predictor/model/trace_builder.h"
#include "tests/predictor/oracle.h"
#include "tests/predictor/oracle_rounds.h"
#include "tests/predictor/random_trace.h"

namespace reweave::testing {
namespace {

TraceChunk chunk_of(const std::vector<TraceEvent>& events) {
  TraceChunk chunk;
  for (const TraceEvent& e : events) {
    chunk.thread.push_back(e.thread);
    chunk.kind.push_back(e.kind);
    chunk.aux.push_back(e.aux);
    chunk.site.push_back(static_cast<std::uint32_t>(e.pc));
    chunk.address.push_back(e.address);
    chunk.extra.push_back(e.extra);
  }
  return chunk;
}

std::vector<RaceReport> detect(const std::string& name, const std::vector<TraceEvent>& events) {
  for (const DetectorRow& row : all_detectors()) {
    if (name != row.name) continue;
    const auto detector = row.make();
    detector->take(chunk_of(events));
    return detector->finish();
  }
  BOOST_FAIL("no detector " + name);
  return {};
}

using Relation = std::vector<std::vector<bool>>;

// Computes relations over the events of a trace, as matrices.
class Naive {
 public:
  explicit Naive(const std::vector<TraceEvent>& events) : events_(events), n_(events.size()) { sections(); }

  // Returns the pairs that conflict and are not ordered.
  std::set<std::pair<std::size_t, std::size_t>> races(const Relation& order) const {
    std::set<std::pair<std::size_t, std::size_t>> result;
    for (std::size_t b = 0; b < n_; ++b) {
      for (std::size_t a = 0; a < b; ++a) {
        if (conflict(a, b) && !order[a][b]) result.insert({a, b});
      }
    }
    return result;
  }

  Relation hb(bool read_after_write) const {
    Relation order(n_, std::vector<bool>(n_));
    for (std::size_t b = 0; b < n_; ++b) {
      for (std::size_t a = 0; a < b; ++a) order[a][b] = hard(a, b) || handed(a, b);
      for (std::size_t a = b; read_after_write && a-- > 0;) {
        if (events_[b].kind != EventKind::kRead) break;
        if (events_[a].kind != EventKind::kWrite || events_[a].address != events_[b].address) continue;
        order[a][b] = true;
        break;
      }
    }
    close(order);
    return order;
  }

  // Only for traces without fork and join: locks order events, and all threads live throughout.
  Relation wcp() const {
    const Relation before = hb(false);
    Relation weak(n_, std::vector<bool>(n_));
    for (bool changed = true; changed;) {
      changed = false;
      const auto add = [&](std::size_t a, std::size_t b) {
        if (weak[a][b]) return;
        weak[a][b] = changed = true;
      };
      for (std::size_t a = 0; a < n_; ++a) {
        for (std::size_t b = a + 1; b < n_; ++b) {
          sections_order(a, b, weak, add);
          if (!weak[a][b]) continue;
          for (std::size_t c = 0; c < n_; ++c) {
            if (before[b][c]) add(a, c);
            if (before[c][a]) add(c, b);
          }
        }
      }
    }
    for (std::size_t a = 0; a < n_; ++a) {
      for (std::size_t b = a + 1; b < n_; ++b) weak[a][b] = weak[a][b] || events_[a].thread == events_[b].thread;
    }
    return weak;
  }

  bool locks_allow(std::size_t a, std::size_t b) const {
    for (const auto& [lock, from] : held_[a]) {
      const auto other = held_[b].find(lock);
      if (other != held_[b].end() && !(events_[from].aux == 1 && events_[other->second].aux == 1)) return false;
    }
    return true;
  }

  bool conflict(std::size_t a, std::size_t b) const {
    const auto plain = [&](std::size_t e) { return events_[e].kind <= EventKind::kWrite; };
    return plain(a) && plain(b) && events_[a].thread != events_[b].thread &&
           (events_[a].kind == EventKind::kWrite || events_[b].kind == EventKind::kWrite) &&
           events_[a].address < events_[b].address + events_[b].extra &&
           events_[b].address < events_[a].address + events_[a].extra;
  }

 private:
  void sections() {
    std::map<ThreadId, std::map<std::uint64_t, std::size_t>> now;
    end_.assign(n_, n_);
    for (std::size_t e = 0; e < n_; ++e) {
      auto& held = now[events_[e].thread];
      if (events_[e].kind == EventKind::kLock) held[events_[e].address] = e;
      held_.push_back(held);
      if (events_[e].kind != EventKind::kUnlock) continue;
      end_[held[events_[e].address]] = e;
      held.erase(events_[e].address);
    }
  }
  bool hard(std::size_t a, std::size_t b) const {
    const TraceEvent &x = events_[a], &y = events_[b];
    const bool starts = x.kind == EventKind::kFork, joins = y.kind == EventKind::kJoin;
    return x.thread == y.thread || (starts && x.extra == y.thread) || (joins && y.extra == x.thread) ||
           (starts && joins && x.extra == y.extra);  // a thread without events
  }
  bool handed(std::size_t a, std::size_t b) const {
    const TraceEvent &x = events_[a], &y = events_[b];
    if (x.address != y.address) return false;
    if (x.kind == EventKind::kUnlock && y.kind == EventKind::kLock) return x.aux == 0 || y.aux == 0;
    const bool stores = x.kind == EventKind::kAtomicStore || x.kind == EventKind::kAtomicRmw;
    if (!stores || (y.kind != EventKind::kAtomicLoad && y.kind != EventKind::kAtomicRmw)) return false;
    for (std::size_t c = a + 1; c < b; ++c) {
      if (events_[c].kind == EventKind::kAtomicStore && events_[c].address == x.address) return false;
    }
    return true;
  }
  void close(Relation& order) const {
    for (std::size_t c = 0; c < n_; ++c) {
      for (std::size_t a = 0; a < n_; ++a) {
        for (std::size_t b = 0; order[a][c] && b < n_; ++b) order[a][b] = order[a][b] || order[c][b];
      }
    }
  }
  template <typename Add>
  void sections_order(std::size_t a, std::size_t b, const Relation& weak, const Add& add) const {
    if (events_[a].thread == events_[b].thread) return;
    for (const auto& [lock, from] : held_[a]) {
      const auto other = held_[b].find(lock);
      if (other == held_[b].end() || end_[from] == n_) continue;
      if (conflict(a, b)) add(end_[from], b);
      if (weak[a][b] && end_[other->second] != n_) add(end_[from], end_[other->second]);
    }
  }

  const std::vector<TraceEvent>& events_;
  std::size_t n_;
  std::vector<std::map<std::uint64_t, std::size_t>> held_;  // by event: lock -> its acquisition
  std::vector<std::size_t> end_;                            // by acquisition
};

// Requires that reports and `races` name the same variables, and that each reported pair is in `races`.
void expect_same(const std::vector<TraceEvent>& events, const std::vector<RaceReport>& reports,
                 const std::set<std::pair<std::size_t, std::size_t>>& races, const std::string& what) {
  std::set<std::uint64_t> truth, found;
  for (const auto& [a, b] : races) truth.insert(events[b].address);
  for (const RaceReport& report : reports) {
    found.insert(events[report.second_site].address);
    BOOST_REQUIRE_MESSAGE(races.contains({report.first_site, report.second_site}), what);
  }
  BOOST_REQUIRE_MESSAGE(truth == found, what);
}

const std::uint64_t kTraces = 1500 * std::uint64_t{rounds()};

BOOST_AUTO_TEST_CASE(hb_and_shb_are_what_they_say) {
  for (std::uint64_t seed = first_seed(0); seed < first_seed(0) + kTraces; ++seed) {
    RandomTraceOptions options{.threads = 2 + static_cast<std::uint32_t>(seed % 3), .events = 24};
    options.shared_locks = options.fork_join = options.atomics = true;
    const auto events = random_trace(options, seed);
    const Naive naive(events);
    expect_same(events, detect("hb", events), naive.races(naive.hb(false)), "hb, seed " + std::to_string(seed));
    // shb checks a read for races before the read is ordered after the write whose value it read.
    Relation shb = naive.hb(true);
    auto races = naive.races(shb);
    for (std::size_t b = 0; b < events.size(); ++b) {
      if (events[b].kind != EventKind::kRead) continue;
      std::vector<TraceEvent> before(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(b) + 1);
      before.back().kind = EventKind::kWrite;  // a write is not ordered after the previous write
      before.back().pc = b;
      const Naive without(before);
      for (const auto& [x, y] : without.races(without.hb(true))) {
        if (y == b && naive.conflict(x, y)) races.insert({x, y});
      }
    }
    expect_same(events, detect("shb", events), races, "shb, seed " + std::to_string(seed));
  }
}

BOOST_AUTO_TEST_CASE(accesses_of_parts_race_only_where_they_overlap) {
  for (std::uint64_t seed = first_seed(0); seed < first_seed(0) + kTraces; ++seed) {
    const auto events = random_trace({.threads = 3, .events = 24, .mixed_sizes = true}, seed);
    const Naive naive(events);
    const auto races = naive.races(naive.hb(false));
    const auto reports = detect("hb", events);
    for (const RaceReport& report : reports) BOOST_REQUIRE(races.contains({report.first_site, report.second_site}));
    BOOST_REQUIRE(reports.empty() == races.empty());
  }
}

BOOST_AUTO_TEST_CASE(wcp_is_what_it_says) {
  for (std::uint64_t seed = first_seed(0); seed < first_seed(0) + kTraces; ++seed) {
    const auto events =
        random_trace({.threads = 2 + static_cast<std::uint32_t>(seed % 3), .events = 24, .variables = 3}, seed);
    const Naive naive(events);
    expect_same(events, detect("wcp", events), naive.races(naive.wcp()), "wcp, seed " + std::to_string(seed));
  }
}

BOOST_AUTO_TEST_CASE(lockset_is_what_it_says) {
  for (std::uint64_t seed = first_seed(0); seed < first_seed(0) + kTraces; ++seed) {
    const auto events = random_trace({.threads = 3, .events = 24, .shared_locks = true}, seed);
    const Naive naive(events);
    std::set<std::pair<std::size_t, std::size_t>> races;
    for (std::size_t b = 0; b < events.size(); ++b) {
      for (std::size_t a = 0; a < b; ++a) {
        if (naive.conflict(a, b) && naive.locks_allow(a, b)) races.insert({a, b});
      }
    }
    expect_same(events, detect("lockset", events), races, "lockset, seed " + std::to_string(seed));
  }
}

// Each report of shb can happen: some reordering stops both threads right before their accesses.
BOOST_AUTO_TEST_CASE(shb_is_sound) {
  std::size_t reported = 0;
  for (std::uint64_t seed = first_seed(0); seed < first_seed(0) + kTraces; ++seed) {
    const auto events = random_trace({.threads = 3, .events = 18, .fork_join = true, .atomics = true}, seed);
    TraceBuilder builder(TraceBuilder::Options{false});
    for (const TraceEvent& e : events) builder.add(e, static_cast<std::uint32_t>(e.pc));
    const TraceModel model = builder.finish();
    const auto reports = detect("shb", events);
    if (reports.empty()) continue;
    Oracle oracle(model);
    oracle.explore();
    const auto event_at = [&](std::uint32_t site) {
      return static_cast<EventIndex>(std::find(model.site.begin(), model.site.end(), site) - model.site.begin());
    };
    for (const RaceReport& report : reports) {
      ++reported;
      BOOST_REQUIRE_MESSAGE(oracle.can_stop_before({event_at(report.first_site), event_at(report.second_site)}),
                            "seed " << seed << ": " << report.first_site << " and " << report.second_site);
    }
  }
  BOOST_TEST(reported > 100u);
}

}  // namespace
}  // namespace reweave::testing
