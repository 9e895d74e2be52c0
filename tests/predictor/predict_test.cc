// The predictor end to end: on synthetic traces with known truth, and every witness re-checked.
#define BOOST_TEST_MODULE predictor_predict
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <set>

#include "predictor/decide/analysis.h"
#include "predictor/decide/decision_journal.h"
#include "predictor/predict.h"
#include "tests/predictor/generator.h"
#include "tests/predictor/random_trace.h"
#include "tests/predictor/std_trace.h"

namespace reweave::testing {
namespace {

bool finds(const std::vector<Finding>& found, FindingKind kind, std::vector<std::uint32_t> sites) {
  return std::any_of(found.begin(), found.end(), [&](const Finding& c) {
    std::vector<std::uint32_t> mine;
    for (const auto& e : c.events) mine.push_back(e.site);
    return c.kind == kind && std::is_permutation(mine.begin(), mine.end(), sites.begin(), sites.end());
  });
}

void check_plants(const GeneratorOptions& options) {
  TraceBuilder builder;
  const auto plants = generate(options, [&](const TraceEvent& e, std::uint32_t site) { builder.add(e, site); });
  const TraceModel model = builder.finish();
  const auto found = predict(model, {});
  for (const Plant& plant : plants) {
    BOOST_TEST(finds(found, plant.kind, plant.sites) == plant.feasible, plant.what << " at " << plant.sites[0]);
  }
  for (const Finding& c : found) {
    BOOST_TEST((check_witness(model, c.query, {0, c.witness.events(model)}).kind == Violation::kNothing));
  }
}

BOOST_AUTO_TEST_CASE(plants_are_told_apart) {
  for (bool branches : {true, false}) {
    for (std::uint64_t seed : {1, 2, 3}) {
      check_plants({.events = 30'000, .threads = 3, .slice = 700, .plants = 60, .branches = branches, .seed = seed});
    }
  }
}

BOOST_AUTO_TEST_CASE(plants_in_coarse_slices) {
  check_plants({.events = 200'000, .threads = 4, .slice = 50'000, .plants = 60});
}

std::vector<std::string> described(const std::vector<Finding>& findings) {
  std::vector<std::string> result;
  for (const Finding& f : findings) {
    std::string text = f.pattern + " " + std::to_string(f.score) + " " + std::to_string(f.count);
    for (const FindingEvent& e : f.events) text += " " + std::to_string(e.index);
    text += " / " + std::to_string(f.witness.prefix());
    for (const Witness::Run& run : f.witness.runs()) {
      text += " " + std::to_string(run.thread) + ":" + std::to_string(run.count);
    }
    result.push_back(text);
  }
  return result;
}

// Interrupts the run repeatedly and continues it. The result must be that of an uninterrupted run.
BOOST_AUTO_TEST_CASE(interrupted_runs_continue) {
  TraceBuilder builder;
  generate({.events = 60'000, .threads = 4, .slice = 700},
           [&](const TraceEvent& e, std::uint32_t s) { builder.add(e, s); });
  const TraceModel model = builder.finish();
  const auto whole = predict(model, {});
  const std::string name = "reweave-journal-" + std::to_string(getpid());
  const Folder folder = Folder::open(std::filesystem::temp_directory_path().string());
  const std::string path = folder.path_of(name);
  std::uint32_t stops = 0;
  for (std::uint32_t patience = 150;; patience += patience / 8, ++stops) {
    DecisionJournal journal(folder, name, 1);
    BOOST_TEST((stops == 0) == (journal.known() == 0));
    std::atomic<std::uint32_t> asked{0};
    PredictOptions options;
    options.journal = &journal;
    options.interrupted = [&] { return ++asked > patience; };
    PredictStats stats;
    const auto found = predict(model, options, &stats);
    if (stats.out_of_time) continue;
    BOOST_TEST(described(found) == described(whole), boost::test_tools::per_element());
    break;
  }
  BOOST_TEST(stops >= 3u);
  // The journal drops a line that is cut, and decisions about another trace.
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 3);
  const std::size_t known = DecisionJournal(folder, name, 1).known();
  BOOST_TEST(known > 0u);
  BOOST_TEST(DecisionJournal(folder, name, 2).known() == 0u);
  DecisionJournal(folder, name, 2).remove();
  BOOST_TEST(!std::filesystem::exists(path));
}

BOOST_AUTO_TEST_CASE(unknown_analysis_is_an_error) {
  const TraceModel model = std_model("T1 w(x); T2 w(x)");
  BOOST_CHECK_THROW(predict(model, {.analyses = {"nonsense"}}), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(empty_trace) { BOOST_TEST(predict(TraceBuilder().finish(), {}).empty()); }

BOOST_AUTO_TEST_CASE(lost_update_across_sections_is_the_first_finding) {
  const TraceModel model = std_model(
      "T1 acq(l); T1 r(balance); T1 rel(l); T1 acq(l); T1 w(balance); T1 rel(l);"
      "T2 acq(l); T2 r(balance); T2 rel(l); T2 acq(l); T2 w(balance); T2 rel(l)",
      true);
  const auto found = predict(model, {});
  BOOST_REQUIRE(!found.empty());
  BOOST_TEST(found[0].pattern == "R1-W2-W1");
  BOOST_TEST(finds(found, FindingKind::kAtomicity, {2, 11, 5}));
}

// Among findings of one kind, the one whose witness switches less comes first, then the one with nearer events, unless
// the code asserts something.
BOOST_AUTO_TEST_CASE(ranking) {
  const TraceModel model =
      std_model("T1 w(far); T1 w(a); T1 w(a); T1 w(near); T2 w(near); T2 w(b); T2 w(far); T1 r(b); T2 r(a)", true);
  const auto races = [&](PredictOptions options) {
    options.analyses = {"races"};
    std::vector<std::vector<std::uint32_t>> result;
    for (const Finding& f : predict(model, options)) result.push_back({f.events[0].site, f.events[1].site});
    return result;
  };
  using Sites = std::vector<std::uint32_t>;
  const auto order = races({});
  const auto place = [](const std::vector<Sites>& all, const Sites& sites) {
    return std::find(all.begin(), all.end(), sites) - all.begin();
  };
  BOOST_REQUIRE(place(order, {4, 5}) < static_cast<std::ptrdiff_t>(order.size()));
  BOOST_REQUIRE(place(order, {1, 7}) < static_cast<std::ptrdiff_t>(order.size()));
  BOOST_TEST(place(order, {4, 5}) < place(order, {1, 7}));
  PredictOptions asserting;
  asserting.asserts = [](std::uint32_t site) { return site == 7; };
  const auto asserted = races(asserting);
  BOOST_TEST(place(asserted, {1, 7}) < place(asserted, {4, 5}));
}

// A use after free, a deadlock and a null use come first, in this order: they stop the program. Races come last.
BOOST_AUTO_TEST_CASE(kinds_are_ranked) {
  const TraceModel model = std_model(
      "T1 alloc(@1000+32); T1 w(@1008+8); T1 w(x); T1 acq(l); T1 acq(m); T1 rel(m); T1 rel(l);"
      "T2 r(@1008+8); T1 free(@1000); T2 r(x); T2 acq(m); T2 acq(l); T2 rel(l); T2 rel(m); T2 rp(@2000+8); T1 "
      "wz(@2000+8)");
  std::vector<std::string> order;
  for (const Finding& f : predict(model, {})) {
    const std::string name = f.kind == FindingKind::kRace ? "race" : f.pattern;
    if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
  }
  const std::vector<std::string> first(order.begin(), order.begin() + std::min<std::size_t>(3, order.size()));
  BOOST_TEST(first == (std::vector<std::string>{"use-after-free", "L1-L2", "null-use"}),
             boost::test_tools::per_element());
  BOOST_TEST(std::count(order.begin() + 3, order.end(), "race") == 1);
}

// A bug in a loop is one finding, however often the loop runs, and whichever thread came first.
BOOST_AUTO_TEST_CASE(the_same_places_are_one_finding_with_a_count) {
  TraceBuilder builder;
  for (std::uint32_t turn = 0; turn < 50; ++turn) {
    for (const std::uint32_t place : {0u, 1u}) {
      const auto thread = static_cast<ThreadId>((turn + place) % 2);
      builder.add({0x1000, 0, 8, thread, EventKind::kWrite, 0}, 10 + thread);
    }
  }
  const TraceModel model = builder.finish();
  const auto found = predict(model, {.analyses = {"races"}});
  BOOST_REQUIRE_EQUAL(found.size(), 1u);
  BOOST_TEST(finds(found, FindingKind::kRace, {10, 11}));
  BOOST_TEST(found[0].count > 8u);
}

// A loop that reads the protected variable again in each turn relies on no earlier turn.
BOOST_AUTO_TEST_CASE(a_loop_that_reads_again_is_no_atomicity_violation) {
  for (const std::uint32_t second_place : {21u, 22u}) {
    TraceBuilder builder;
    const auto section = [&](ThreadId thread, EventKind kind, std::uint32_t site) {
      builder.add({0x2000, 0, 8, thread, EventKind::kLock, 0}, 100 + site);
      builder.add({0x1000, 0, 8, thread, kind, 0}, site);
      builder.add({0x2000, 0, 8, thread, EventKind::kUnlock, 0}, 200 + site);
    };
    section(1, EventKind::kRead, 21);
    section(1, EventKind::kRead, second_place);
    section(0, EventKind::kWrite, 31);
    const auto found = predict(builder.finish(), {.analyses = {"atomicity"}});
    BOOST_TEST(found.size() == (second_place == 21 ? 0u : 1u));
  }
}

// A trace without branch events must give the same findings as one with a branch after every read. `two-variables`
// learns from the trace and may differ, so it is left out.
BOOST_AUTO_TEST_CASE(without_branches_one_follows_every_read) {
  std::uint32_t all = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    TraceBuilder plain, branching;
    std::uint32_t site = 0;
    for (const TraceEvent& e : random_trace({.threads = 2, .events = 22, .branches = false, .atomics = true}, seed)) {
      plain.add(e, ++site);
      branching.add(e, site);
      const bool reads =
          e.kind == EventKind::kRead || e.kind == EventKind::kAtomicLoad || e.kind == EventKind::kAtomicRmw;
      if (reads) branching.add({0, e.pc, 0, e.thread, EventKind::kBranch, 0}, 0);
    }
    const auto found = [](const TraceModel& model) {
      std::set<std::string> result;
      const PredictOptions options{.analyses = {"deadlocks", "orders", "atomicity", "races"},
                                   .assume_data_reads = false};
      for (const Finding& f : predict(model, options)) {
        std::string text = f.pattern;
        for (const FindingEvent& e : f.events) text += " " + std::to_string(e.site);
        result.insert(text);
      }
      return result;
    };
    const auto without = found(plain.finish()), with = found(branching.finish());
    for (const auto& [some, others] : {std::pair{&without, &with}, std::pair{&with, &without}}) {
      for (const std::string& text : *some) BOOST_TEST(others->contains(text), "seed " << seed << ": " << text);
    }
    all += static_cast<std::uint32_t>(without.size());
  }
  BOOST_TEST(all > 1000u);
}

// Two whole updates under a lock may come in any order. If one is not whole, or its value is used, the order may
// matter.
BOOST_AUTO_TEST_CASE(the_order_of_whole_updates_is_no_finding) {
  const auto has_order = [](const std::string& first, const std::string& second) {
    const auto found = predict(std_model(first + second), {});
    return std::any_of(found.begin(), found.end(), [](auto& f) { return f.pattern == "read-before-write"; });
  };
  const std::string whole = "T1 acq(l); T1 rd(x); T1 wd(x); T1 rel(l); ";
  BOOST_TEST(!has_order(whole, "T2 acq(l); T2 rd(x); T2 wd(x); T2 rel(l); "));
  BOOST_TEST(has_order(whole, "T2 acq(l); T2 rd(x); T2 rel(l); "));
  BOOST_TEST(has_order(whole, "T2 acq(k); T2 rd(x); T2 wd(x); T2 rel(k); "));
  BOOST_TEST(has_order(whole, "T2 acq(l); T2 rd(x); T2 rel(l); T2 acq(l); T2 wd(x); T2 rel(l); "));
  BOOST_TEST(has_order("T1 acq(l); T1 w(x); T1 rel(l); ", "T2 acq(l); T2 rd(x); T2 wd(x); T2 rel(l); "));
}

BOOST_AUTO_TEST_CASE(pending_request_is_a_deadlock) {
  // The recorded run hung: both inner acquisitions were requested, and neither was granted.
  const TraceModel model = std_model("T1 acq(l); T2 acq(m); T1 req(m); T2 req(l)", true);
  BOOST_TEST(finds(predict(model, {}), FindingKind::kDeadlock, {3, 4}));
}

BOOST_AUTO_TEST_CASE(use_after_free) {
  TraceBuilder builder;
  const auto add = [&](ThreadId t, EventKind kind, std::uint64_t address, std::uint64_t extra, std::uint32_t site) {
    builder.add({address, site, extra, t, kind, 0}, site);
  };
  add(0, EventKind::kAlloc, 0x1000, 32, 1);
  add(0, EventKind::kWrite, 0x1008, 4, 2);
  add(0, EventKind::kFork, 0, 1, 3);
  add(1, EventKind::kRead, 0x1008, 4, 4);
  add(0, EventKind::kFree, 0x1000, 0, 5);
  const TraceModel model = builder.finish();
  BOOST_TEST(finds(predict(model, {}), FindingKind::kOrder, {4, 5}));
}

BOOST_AUTO_TEST_CASE(each_analysis_runs_alone_and_twice_alike) {
  TraceBuilder builder;
  generate({.events = 20'000}, [&](const TraceEvent& e, std::uint32_t site) { builder.add(e, site); });
  const TraceModel model = builder.finish();
  for (const AnalysisRow& row : all_analyses()) {
    const auto first = predict(model, {.analyses = {row.name}}), second = predict(model, {.analyses = {row.name}});
    BOOST_REQUIRE(first.size() == second.size());
    for (std::size_t i = 0; i < first.size(); ++i) BOOST_TEST(first[i].query.stops == second[i].query.stops);
  }
}

}  // namespace
}  // namespace reweave::testing
