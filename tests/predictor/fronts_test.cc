// Compares the reports of the fronts with exhaustive search on thousands of random small traces. Nothing infeasible is
// reported; with two threads, everything that fits a pattern and is feasible is reported. Every event has a site of its
// own (or shares it with one of the other thread), so a group has one instance and sampling loses nothing. For
// more traces, or others, see oracle_rounds.h.
#define BOOST_TEST_MODULE predictor_fronts
#include <boost/test/unit_test.hpp>

#include <map>
#include <string>

#include "predictor/model/trace_builder.h"
#include "predictor/predict.h"
#include "tests/predictor/expected_findings.h"
#include "tests/predictor/oracle.h"
#include "tests/predictor/oracle_rounds.h"
#include "tests/predictor/random_trace.h"

namespace reweave::testing {
namespace {

constexpr std::uint32_t kReadSites = 1000;  // greater than any event number; the other sites are event numbers

// The code locations of events. kOwn: one each. kFive: five in all. kPairs: the n-th reads of all threads share one.
enum class Places { kOwn, kFive, kPairs };

TraceModel build(const std::vector<TraceEvent>& events, bool collapse, Places places) {
  TraceBuilder builder(TraceBuilder::Options{collapse});
  std::map<ThreadId, std::uint32_t> reads;
  for (const TraceEvent& e : events) {
    auto site = static_cast<std::uint32_t>(e.pc);
    if (places == Places::kFive) site %= 5;
    if (places == Places::kPairs && e.kind == EventKind::kRead) site = kReadSites + reads[e.thread]++;
    builder.add(e, site);
  }
  return builder.finish();
}

struct Counts {
  std::map<std::string, std::uint32_t> reported;
  std::uint32_t unsound = 0, expected = 0, missed = 0;
};

using Definition = Expected (*)(const TraceModel& model);

// Runs the predictor on random traces. `definition` gives the findings that must be reported; null: none must.
Counts run(const RandomTraceOptions& options, std::uint32_t traces, std::uint64_t seed, Definition definition,
           Places places = Places::kOwn) {
  Counts counts;
  for (std::uint64_t i = 0; i < std::uint64_t{traces} * rounds(); ++i) {
    const std::uint64_t s = first_seed(seed) + i;
    const TraceModel model = build(random_trace(options, s), s % 2 == 0, places);
    if (model.size() == 0) continue;
    Expected found;
    for (const Finding& finding : predict(model, {})) {
      ++counts.reported[finding.pattern.substr(0, finding.pattern.find(' '))];
      if (!Oracle(model, finding.query.rule).feasible(finding.query)) {
        ++counts.unsound;
        BOOST_TEST_MESSAGE("seed " << s << ": infeasible " << finding.pattern);
      }
      Sites sites;
      for (const FindingEvent& e : finding.events) sites.push_back(e.site);
      if (finding.kind == FindingKind::kDeadlock && finding.pattern[0] == 'L') std::sort(sites.begin(), sites.end());
      found[finding.pattern].insert(sites);
    }
    if (definition == nullptr) continue;
    for (const auto& [pattern, all] : definition(model)) {
      counts.expected += static_cast<std::uint32_t>(all.size());
      for (const Sites& sites : all) {
        if (found[pattern].contains(sites)) continue;
        ++counts.missed;
        std::string at;
        for (std::uint32_t site : sites) at += " " + std::to_string(site);
        BOOST_TEST_MESSAGE("seed " << s << ": missed " << pattern << " at" << at);
      }
    }
  }
  for (const auto& [pattern, count] : counts.reported) BOOST_TEST_MESSAGE(pattern << ": " << count);
  BOOST_TEST(counts.unsound == 0u);
  // With more than two threads SeqCheck may miss a reordering.
  BOOST_TEST(counts.missed * 100 <= (options.threads > 2 ? counts.expected : 0));
  return counts;
}

void expect(Counts counts, const std::vector<std::string>& patterns, std::uint32_t at_least = 20) {
  for (const std::string& pattern : patterns) BOOST_TEST(counts.reported[pattern] >= at_least, pattern);
}

BOOST_AUTO_TEST_CASE(waits_of_two_threads) {
  for (const bool branches : {true, false}) {
    const RandomTraceOptions options{.threads = 2, .events = 20, .branches = branches, .conditions = true};
    expect(run(options, 2500, 100'000, expected_findings), {"lost-wake-up", "wait-L2", "W1-R2", "R1-W2-W1"}, 10);
  }
}

BOOST_AUTO_TEST_CASE(waits_with_shared_locks) {
  const RandomTraceOptions options{
      .threads = 2, .events = 20, .branches = true, .shared_locks = true, .conditions = true};
  expect(run(options, 1500, 200'000, expected_findings), {"lost-wake-up", "wait-L2"}, 10);
}

BOOST_AUTO_TEST_CASE(pointers_and_heap_of_two_threads) {
  for (const bool branches : {true, false}) {
    const RandomTraceOptions options{.threads = 2, .events = 20, .branches = branches, .pointers = true, .heap = true};
    expect(run(options, 1200, 300'000, expected_findings), {"null-use", "double-free", "use-after-free", "two"});
  }
}

BOOST_AUTO_TEST_CASE(ends_of_two_threads) {
  const RandomTraceOptions options{.threads = 2, .events = 18, .conditions = true, .ends = true};
  expect(run(options, 800, 400'000, expected_findings), {"exit-before-write"});
}

BOOST_AUTO_TEST_CASE(locks_of_two_threads) {
  for (const bool branches : {true, false}) {
    for (const bool shared : {true, false}) {
      const RandomTraceOptions options{.threads = 2, .events = 20, .branches = branches, .shared_locks = shared};
      expect(run(options, 500, 700'000, expected_findings), {"W1-W2", "W1-R2", "R1-W2", "R1-W2-W1", "R1-W2-R1",
                                                             "W1-W2-R1", "W1-R2-W1", "W1-W2-W1", "read-before-write"});
    }
  }
}

BOOST_AUTO_TEST_CASE(deadlocks_of_two_threads) {
  for (const bool shared : {true, false}) {
    const RandomTraceOptions options{.threads = 2, .events = 26, .variables = 1, .shared_locks = shared, .nests = true};
    expect(run(options, 400, 710'000, expected_findings), {"L1-L2"});
  }
}

// All kinds of locks nested in all orders: cycles of three requests.
BOOST_AUTO_TEST_CASE(deadlocks_of_three_threads) {
  for (const bool shared : {true, false}) {
    const RandomTraceOptions options{.threads = 3,
                                     .events = 24,
                                     .variables = 1,
                                     .locks = 3,
                                     .branches = false,
                                     .shared_locks = shared,
                                     .nests = true};
    expect(run(options, 1000, 1'200'000, expected_cycles), {"L1-L2", "L1-L2-L3"}, 5);
  }
}

// Plain and atomic accesses of one variable.
BOOST_AUTO_TEST_CASE(mixed_atomics_of_two_threads) {
  const RandomTraceOptions options{.threads = 2, .events = 20, .atomics = true, .mixed_atomics = true};
  expect(run(options, 600, 720'000, expected_findings), {"W1-R2", "R1-W2", "W1-W2", "R1-W2-W1", "W1-W2-W1"});
}

// Few variables and many sections, so that some variables are accessed together often enough to belong together.
BOOST_AUTO_TEST_CASE(two_variables_of_two_threads) {
  const RandomTraceOptions options{.threads = 2, .events = 24, .locks = 1, .atomics = true};
  expect(run(options, 600, 800'000, expected_findings), {"two", "W1-R2-W1"});
}

BOOST_AUTO_TEST_CASE(stacks_of_two_threads) {
  const RandomTraceOptions options{.threads = 2, .events = 24, .fork_join = true, .stacks = true, .ends = true};
  expect(run(options, 1000, 900'000, expected_findings), {"use-after-end"});
}

// Both threads read at the same sites, so each group still has one instance.
BOOST_AUTO_TEST_CASE(frees_by_both_of_two_threads) {
  for (const bool branches : {true, false}) {
    for (const bool shared : {true, false}) {
      const RandomTraceOptions options{.threads = 2,
                                       .events = 22,
                                       .variables = 1,
                                       .locks = 1,
                                       .branches = branches,
                                       .shared_locks = shared,
                                       .pointers = true,
                                       .heap = true};
      expect(run(options, 400, 1'400'000, expected_frees_by_both, Places::kPairs), {"freed-by-both"});
    }
  }
}

// Reads that decide nothing, and writes of what they read.
BOOST_AUTO_TEST_CASE(data_reads_of_two_threads) {
  for (const bool branches : {true, false}) {
    const RandomTraceOptions options{
        .threads = 2, .events = 20, .variables = 3, .branches = branches, .data_reads = true, .heap = true};
    expect(run(options, 800, 1'500'000, expected_findings), {"W1-W2", "W1-R2", "R1-W2-W1", "use-after-free"});
  }
}

// Several threads run the same code; one instance of each group is reported.
BOOST_AUTO_TEST_CASE(the_same_code_in_two_threads) {
  const RandomTraceOptions options{
      .threads = 2, .events = 24, .variables = 1, .locks = 1, .branches = false, .pointers = true, .heap = true};
  expect(run(options, 1500, 1'000'000, nullptr, Places::kFive), {"freed-by-both", "double-free", "W1-W2"}, 5);
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
  expect(run(options, 500, 500'000, nullptr), {"lost-wake-up", "null-use", "use-after-free"}, 5);
}

BOOST_AUTO_TEST_CASE(four_threads) {
  const RandomTraceOptions options{.threads = 4, .events = 18, .locks = 3, .conditions = true, .pointers = true};
  expect(run(options, 200, 600'000, nullptr), {"lost-wake-up", "null-use"}, 5);
}

}  // namespace
}  // namespace reweave::testing
