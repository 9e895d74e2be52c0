// Runs each search over model programs, and compares it with all histories that the programs have.
#define BOOST_TEST_MODULE searches
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "explorer/run/switches.h"
#include "explorer/searches/cells.h"
#include "explorer/searches/hapset_store.h"
#include "explorer/searches/prefix_goal.h"
#include "explorer/searches/ranked.h"
#include "explorer/searches/search.h"
#include "tests/explorer/model_program.h"

namespace reweave {
namespace {

namespace data = boost::unit_test::data;
using namespace model;  // NOLINT: the programs read better

struct Campaign {
  std::vector<History> histories;
  std::vector<std::uint64_t> preemptions;
  bool complete = false;
  std::uint64_t first_failure = 0;  // number of the run, from 1; 0: none
};

Campaign explore(const Program& program, const std::string& strategy, std::uint64_t seed, std::size_t runs,
                 const std::string& learned = "") {
  Knowledge knowledge;
  SearchOptions options;
  options.seed = seed;
  options.knowledge = &knowledge;
  options.learned = learned;
  RunRequest first = request_of({});
  knowledge.learn(program.run(first).observed);
  const auto search = find_search(strategy)->make(options);
  Campaign campaign;
  while (campaign.histories.size() < runs) {
    const auto request = search->next();
    if (!request) break;
    History history;
    const RunResult run = program.run(*request, &history);
    if (request->observe) knowledge.learn(run.observed);
    search->learn(*request, run);
    campaign.histories.push_back(history);
    campaign.preemptions.push_back(preemptions_of(run));
    if (run.failed() && campaign.first_failure == 0) campaign.first_failure = campaign.histories.size();
  }
  campaign.complete = search->complete();
  return campaign;
}

Program racy() { return {{{write(8), read(16)}, {read(8), write(16)}, {write(8)}}}; }
Program locked() {
  return {{{lock(64), write(8), unlock(64)}, {lock(64), read(8), unlock(64), write(16)}, {read(16)}}};
}
Program lost_update() {
  std::vector<Op> body = {read(16), read(8), write(8), read(16)};
  Program program{{body, body}};
  program.fails = [](const History& h) {
    auto at = [&](ThreadId t, std::size_t i) { return std::find(h.begin(), h.end(), Executed{t, i}); };
    return at(0, 1) < at(1, 2) && at(1, 1) < at(0, 2);
  };
  return program;
}

// Small random programs, with and without a lock.
Program random_program(std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  Program program;
  const std::size_t threads = 2 + draw() % 2;
  for (std::size_t t = 0; t < threads; t++) {
    std::vector<Op> ops;
    const std::size_t length = 1 + draw() % 3;
    const bool locks = draw() % 3 == 0;
    if (locks) ops.push_back(lock(64));
    for (std::size_t i = 0; i < length; i++) {
      const std::uint64_t object = 8 + 8 * (draw() % 2);
      ops.push_back(draw() % 2 == 0 ? read(object) : write(object));
    }
    if (locks) ops.push_back(unlock(64));
    program.threads.push_back(ops);
  }
  return program;
}

auto classes_of(const Program& program, const std::vector<History>& histories) {
  std::map<std::vector<std::pair<Executed, Executed>>, std::size_t> classes;
  for (const History& history : histories) classes[program.class_of(history)]++;
  return classes;
}

const std::vector<std::string> kNames = [] {
  std::vector<std::string> names;
  for (const SearchRow& row : all_searches()) names.emplace_back(row.name);
  return names;
}();

BOOST_DATA_TEST_CASE(the_same_seed_gives_the_same_runs, data::make(kNames), name) {
  for (const Program& program : {racy(), locked()}) {
    const Campaign a = explore(program, name, 7, 60), b = explore(program, name, 7, 60);
    BOOST_TEST((a.histories == b.histories));
    BOOST_TEST(!a.histories.empty());
  }
}

BOOST_DATA_TEST_CASE(the_lost_update_is_found, data::make(kNames), name) {
  BOOST_TEST(explore(lost_update(), name, 1, 2'000).first_failure != 0u);
}

// Returns the first `kept` choices of a run.
Observation cut(const Observation& run, std::size_t kept) {
  Observation first;
  for (std::size_t i = 0; i < std::min(kept, run.size()); i++) first.append(run[i], run.enabled(i));
  return {first.notes(), first.enabled_pool(), kept < run.size()};
}

// Part of a run may not be kept, the run may be lost, or it may end before the choices that were asked for.
BOOST_DATA_TEST_CASE(runs_that_were_observed_in_part_are_taken, data::make(kNames) * data::xrange(20), name, seed) {
  const Program program = seed % 2 == 0 ? locked() : random_program(static_cast<std::uint64_t>(seed));
  std::mt19937_64 draw(static_cast<std::uint64_t>(seed));
  Knowledge knowledge;
  SearchOptions options;
  options.seed = static_cast<std::uint64_t>(seed);
  options.knowledge = &knowledge;
  const auto search = find_search(name)->make(options);
  std::size_t made = 0;
  while (made < 400) {
    const auto request = search->next();
    if (!request) break;
    RunResult run = program.run(*request);
    if (draw() % 3 != 0) run.observed = cut(run.observed, draw() % (run.observed.size() + 1));
    knowledge.learn(run.observed);
    search->learn(*request, run);
    made++;
  }
  BOOST_TEST(made > 0u);
}

// A search that keeps asking for what it cannot see would never end.
BOOST_DATA_TEST_CASE(searches_that_can_be_complete_end_though_nothing_is_seen, data::make({"dpor", "hapset"}), name) {
  const Program program = racy();
  Knowledge knowledge;
  SearchOptions options;
  options.knowledge = &knowledge;
  const auto search = find_search(name)->make(options);
  std::size_t made = 0;
  while (const auto request = search->next()) {
    RunResult run = program.run(*request);
    if (made++ > 0) run.observed = {};
    search->learn(*request, run);
    BOOST_REQUIRE(made < 1000u);
  }
  BOOST_TEST(search->complete());
}

BOOST_AUTO_TEST_CASE(dfs_and_pcb_try_every_history_once) {
  for (const char* name : {"dfs", "pcb"})
    for (const Program& program : {racy(), lost_update()}) {
      const Campaign campaign = explore(program, name, 1, 100'000);
      BOOST_TEST(campaign.complete);
      const std::set<History> tried(campaign.histories.begin(), campaign.histories.end());
      BOOST_TEST(tried.size() == campaign.histories.size());
      BOOST_TEST(tried.size() == program.all_histories().size());
    }
}

BOOST_AUTO_TEST_CASE(pcb_has_fewer_preemptions_first) {
  const Campaign campaign = explore(racy(), "pcb", 1, 100'000);
  BOOST_TEST(std::is_sorted(campaign.preemptions.begin(), campaign.preemptions.end()));
}

// Source sets with sleep sets explore every class, and run none of them to its end twice.
BOOST_DATA_TEST_CASE(dpor_tries_each_class, data::xrange(300), seed) {
  const Program program = random_program(static_cast<std::uint64_t>(seed));
  const Campaign campaign = explore(program, "dpor", 1, 100'000);
  BOOST_TEST(campaign.complete);
  const auto tried = classes_of(program, campaign.histories), all = classes_of(program, program.all_histories());
  for (const auto& [order, count] : all) BOOST_TEST(tried.contains(order));
  // Sleep sets recognise some runs as redundant only after they have begun. These add no class.
  BOOST_TEST(campaign.histories.size() <= 2 * all.size() + 2);
}

BOOST_AUTO_TEST_CASE(hapset_runs_less_than_dpor_and_remembers) {
  std::vector<Op> body = {read(8), write(8), read(16), write(16), read(8), write(8)};
  const Program program{{body, body}};
  const std::size_t dpor = explore(program, "dpor", 1, 100'000).histories.size();
  const std::string file = (std::filesystem::temp_directory_path() / "reweave-hapset-test").string();
  std::filesystem::remove(file);
  const std::size_t first = explore(program, "hapset", 1, 100'000, file).histories.size();
  const std::size_t again = explore(program, "hapset", 1, 100'000, file).histories.size();
  std::filesystem::remove(file);
  BOOST_TEST(first < dpor);
  BOOST_TEST(again < first);
}

// Both threads lock in one function, so its order of locks is known after the first run. In that run the locks order
// the accesses.
BOOST_AUTO_TEST_CASE(hapset_tries_orders_that_known_orders_hide) {
  const Op take = at(0x500000, lock(8)), give = at(0x500004, unlock(8));
  const Program program{{{write(16), take, give}, {take, give, read(16)}}};
  const auto read_comes_first = [](const History& history) {
    return std::ranges::find(history, Executed{1, 2}) < std::ranges::find(history, Executed{0, 0});
  };
  const Campaign campaign = explore(program, "hapset", 1, 100);
  BOOST_TEST(campaign.complete);
  BOOST_TEST(std::ranges::any_of(campaign.histories, read_comes_first));
}

// The number of permutations of Lemma 4.1 nearly always shows every order of every pair or triple.
BOOST_AUTO_TEST_CASE(ranked_draws_enough_permutations) {
  BOOST_TEST(permutations_needed(10, 2, 0.1) == 14u);
  std::mt19937_64 draw(1);
  int all_seen = 0;
  for (int trial = 0; trial < 200; trial++) {
    std::set<std::pair<int, int>> seen;
    for (std::uint64_t i = permutations_needed(10, 2, 0.1); i > 0; i--) {
      std::vector<int> order(10);
      for (int k = 0; k < 10; k++) order[static_cast<std::size_t>(k)] = k;
      std::shuffle(order.begin(), order.end(), draw);
      for (std::size_t a = 0; a < 10; a++)
        for (std::size_t b = a + 1; b < 10; b++) seen.insert({order[a], order[b]});
    }
    all_seen += seen.size() == 90 ? 1 : 0;
  }
  BOOST_TEST(all_seen >= 180);
}

// Two threads with 3 and 5 accesses of one variable: 56 orders, all equally likely.
BOOST_AUTO_TEST_CASE(surw_is_uniform_over_the_orders_of_a_variable) {
  Program program;
  for (const std::size_t length : {3, 5}) program.threads.push_back(std::vector<Op>(length, write(8)));
  constexpr std::size_t kRuns = 28'000;
  std::map<History, std::size_t> counts;
  for (const History& history : explore(program, "surw", 1, kRuns).histories) counts[history]++;
  BOOST_TEST(counts.size() == 56u);
  double squares = 0;
  for (const auto& [history, count] : counts) {
    const double expected = kRuns / 56.0, off = static_cast<double>(count) - expected;
    squares += off * off / expected;
  }
  BOOST_TEST(squares < 93.2);  // chi squared, 55 degrees of freedom, p = 0.001
}

// More threads than a policy has slots for.
BOOST_DATA_TEST_CASE(more_threads_than_slots_are_scheduled, data::make(kNames), name) {
  Program program;
  for (int i = 0; i < 1'100; i++) program.threads.push_back({write(8)});
  BOOST_TEST(!explore(program, name, 1, 2).histories.empty());
}

// A racing pair comes after private work of different length: a random walk strongly favours one order; pos does not.
BOOST_AUTO_TEST_CASE(pos_is_fair_to_both_orders_of_a_race) {
  Program program{{{write(8)}, {}}};
  for (std::uint64_t i = 0; i < 9; i++) program.threads[1].push_back(write(800 + 8 * i));
  program.threads[1].push_back(write(8));
  auto late_first = [&](const char* name) {
    std::size_t count = 0;
    for (const History& h : explore(program, name, 1, 4'000).histories)
      count += std::find(h.begin(), h.end(), Executed{1, 9}) < std::find(h.begin(), h.end(), Executed{0, 0}) ? 1 : 0;
    return static_cast<double>(count) / 4'000;
  };
  BOOST_TEST(late_first("random") < 0.01);
  BOOST_TEST(late_first("pos") > 0.05);
}

// A cell is exactly the set of places at which threads are about to continue, each with its object.
BOOST_DATA_TEST_CASE(cells_are_pending_operations, data::xrange(100), seed) {
  const Program program = random_program(static_cast<std::uint64_t>(seed));
  std::map<std::multiset<std::pair<std::uint64_t, std::uint64_t>>, std::uint64_t> by_state;
  std::map<std::uint64_t, std::multiset<std::pair<std::uint64_t, std::uint64_t>>> by_cell;
  for (std::uint64_t run_seed = 0; run_seed < 30; run_seed++) {
    RunRequest request;
    request.policy = "random";
    request.seed = run_seed;
    const Observation run = program.run(request).observed;
    std::set<std::uint64_t> shared;
    for (const SharedObject& object : shared_objects(run)) shared.insert(object.granule);
    const std::vector<std::uint64_t> cells = cells_of(run);
    for (std::size_t i = 0; i + 1 < run.size(); i++) {
      if (cells[i] == 0) continue;
      std::multiset<std::pair<std::uint64_t, std::uint64_t>> state;
      std::set<ThreadId> seen;
      for (std::size_t k = i + 1; k < run.size(); k++)
        if (shared.contains(run[k].object) && !run.resumed(k) && seen.insert(run[k].thread).second)
          state.insert({run[k].pc, run[k].object});
      BOOST_TEST((by_state.try_emplace(state, cells[i]).first->second == cells[i]));
      BOOST_TEST((by_cell.try_emplace(cells[i], state).first->second == state));
    }
  }
}

// Following the way to a cell takes the same steps and ends in a cell.
BOOST_AUTO_TEST_CASE(the_way_to_a_cell_leads_there) {
  const Program program = lost_update();
  CellMap map;
  std::uint64_t draw = 0;
  auto below = [&](std::uint64_t bound) { return draw++ * 7 % bound; };
  for (std::uint64_t seed = 0; seed < 200; seed++) {
    RunRequest request;
    request.policy = "branch";
    request.seed = seed;
    std::optional<std::vector<ThreadId>> way;
    if (!map.empty()) {
      way = map.way_to(map.choose(below));
      request = prefix_request(*way);
      request.policy = "branch";
    }
    const Observation run = program.run(request).observed;
    if (way) {
      BOOST_TEST_REQUIRE(run.size() >= way->size());
      for (std::size_t i = 0; i < way->size(); i++) BOOST_TEST(run[i].thread == (*way)[i]);
      BOOST_TEST((cells_of(run)[way->size() - 1] != 0));
    }
    map.learn(run);
  }
}

BOOST_AUTO_TEST_CASE(ranked_finds_what_needs_one_preemption_at_level_one) {
  BOOST_TEST(explore(lost_update(), "ranked", 1, 1'000).first_failure < 60u);
}

}  // namespace
}  // namespace reweave
