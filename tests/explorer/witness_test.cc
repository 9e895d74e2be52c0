// Witnesses over model programs: followed exactly, left at a step that does not happen, and exchanged for other
// linearizations, which are compared with all possible ones.
#define BOOST_TEST_MODULE witness
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <random>
#include <set>

#include "explorer/campaign/witness.h"
#include "tests/explorer/model_program.h"

namespace reweave {
namespace {

namespace data = boost::unit_test::data;
using namespace model;  // NOLINT: the programs read better

Program random_program(std::mt19937_64& draw) {
  Program program;
  for (std::size_t threads = 2 + draw() % 2; threads > 0; threads--) {
    std::vector<Op> ops;
    for (std::size_t length = 2 + draw() % 4; length > 0; length--) {
      const std::uint64_t object = 8 + 8 * (draw() % 3);
      ops.push_back(draw() % 2 == 0 ? read(object) : write(object));
    }
    program.threads.push_back(ops);
  }
  return program;
}

RunRequest random_run(std::uint64_t seed) {
  RunRequest request;
  request.policy = "random";
  request.seed = seed;
  return request;
}

// Returns the run as a witness of its own trace.
WitnessOrder steps_of(const Observation& run) {
  WitnessOrder steps;
  for (std::size_t i = 0; i < run.size(); i++) {
    WitnessStep step;
    step.thread = run[i].thread;
    step.index = i;
    step.kind = run[i].is_write != 0 ? EventKind::kWrite : EventKind::kRead;
    step.address = run[i].object;
    step.pc = run[i].pc;
    steps.push_back(step);
  }
  return steps;
}

BOOST_DATA_TEST_CASE(a_run_is_made_again_along_its_steps, data::xrange(100), seed) {
  std::mt19937_64 draw(static_cast<std::uint64_t>(seed));
  const Program program = random_program(draw);
  History wanted, got;
  const WitnessOrder steps = steps_of(program.run(random_run(draw()), &wanted).observed);
  const RunResult run = program.run(witness_request(turns_of(steps)), &got);
  BOOST_TEST(was_followed(run, turns_of(steps)));
  BOOST_TEST((got == wanted));
}

// In its turn a thread may do more than the witness contains, and need not do all of it.
BOOST_AUTO_TEST_CASE(turns_end_where_the_witness_says_whatever_comes_before) {
  const Program program{{{write(8), write(8), write(16)}, {read(16), write(8)}}};
  History got;
  WitnessOrder order;
  const Observation run = program.run(random_run(1)).observed;
  const WitnessOrder all = steps_of(run);
  const auto step = [&](ThreadId thread, std::uint64_t index) {
    std::uint64_t seen = 0;
    for (const WitnessStep& each : all)
      if (each.thread == thread && seen++ == index) return each;
    BOOST_FAIL("no such step");
    return WitnessStep{};
  };
  WitnessStep unknown = step(1, 0);
  unknown.pc += 0x100000;
  order = {step(0, 1), unknown, step(1, 1), step(0, 2)};
  BOOST_TEST(turns_of(order).size() == 3u);
  BOOST_TEST(was_followed(program.run(witness_request(turns_of(order)), &got), turns_of(order)));
  BOOST_TEST((got == History{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 2}}));
}

// Turns of threads lead up to the witness.
BOOST_DATA_TEST_CASE(a_witness_is_reached_by_turns, data::xrange(100), seed) {
  std::mt19937_64 draw(static_cast<std::uint64_t>(seed));
  const Program program = random_program(draw);
  History wanted, got;
  const WitnessOrder steps = steps_of(program.run(random_run(draw()), &wanted).observed);
  const auto at = steps.begin() + static_cast<std::ptrdiff_t>(draw() % steps.size());
  Candidate candidate;
  candidate.beginning = turns_of(WitnessOrder(steps.begin(), at));
  candidate.witness.assign(at, steps.end());
  const std::vector<WitnessTurn> turns = turns_along(candidate, candidate.witness);
  BOOST_TEST(was_followed(program.run(witness_request(turns), &got), turns));
  BOOST_TEST((got == wanted));
}

// A turn whose thread never reaches the turn's end is skipped. The other turns are made in order.
BOOST_DATA_TEST_CASE(a_turn_that_does_not_come_to_its_end_is_left_out, data::xrange(50), seed) {
  std::mt19937_64 draw(static_cast<std::uint64_t>(seed));
  // The run has to continue without the thread that it waits for: two more threads can run.
  const Program program{{{write(8)}, {write(16), write(24)}, {write(16), write(24)}}};
  const WitnessOrder steps = steps_of(program.run(random_run(draw())).observed);
  WitnessOrder order = steps;
  const std::size_t at = static_cast<std::size_t>(
      std::find_if(order.begin(), order.end(), [](const WitnessStep& step) { return step.thread == 0; }) -
      order.begin());
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(at) + 1, order[at]);  // thread 0 has ended by then
  const RunResult run = program.run(witness_request(turns_of(order)));
  BOOST_TEST(!was_followed(run, turns_of(order)));
  if (at + 1 == steps.size()) return;  // the run ends before anything has to wait
  BOOST_TEST(run.witness.next == turns_of(order).size());
  BOOST_TEST(run.witness.skipped == 1u);
  order.resize(at + 1);
  BOOST_TEST(run.witness.first_skipped == turns_of(order).size() - 1);
  BOOST_TEST(static_cast<int>(run.witness.obstacle) == static_cast<int>(WitnessObstacle::kNotThere));
}

// Returns all orders of the steps that keep the order of every two that must not be exchanged.
std::set<std::vector<std::size_t>> all_extensions(const WitnessOrder& steps) {
  std::set<std::vector<std::size_t>> found;
  std::vector<std::size_t> path;
  std::vector<bool> used(steps.size());
  std::function<void()> extend = [&] {
    if (path.size() == steps.size()) found.insert(path);
    for (std::size_t i = 0; i < steps.size(); i++) {
      bool ready = !used[i];
      for (std::size_t k = 0; k < i && ready; k++) ready = used[k] || !ordered(steps[k], steps[i]);
      if (!ready) continue;
      used[i] = true;
      path.push_back(i);
      extend();
      path.pop_back();
      used[i] = false;
    }
  };
  extend();
  return found;
}

BOOST_DATA_TEST_CASE(linearizations_are_of_the_same_partial_order, data::xrange(200), seed) {
  std::mt19937_64 draw(static_cast<std::uint64_t>(seed));
  WitnessOrder steps;
  for (std::size_t i = 0; i < 7; i++) {
    WitnessStep step;
    step.thread = static_cast<ThreadId>(draw() % 3);
    step.index = i;
    step.kind = draw() % 8 == 0 ? EventKind::kFork : draw() % 2 == 0 ? EventKind::kRead : EventKind::kWrite;
    step.address = 8 + 8 * (draw() % 4);
    steps.push_back(step);
  }
  const auto all = all_extensions(steps);
  const std::vector<WitnessOrder> orders = linearizations(steps, 4);
  std::set<std::vector<std::size_t>> seen;
  BOOST_TEST((orders.front() == steps));
  for (const WitnessOrder& order : orders) {
    std::vector<std::size_t> indices;
    for (const WitnessStep& step : order) indices.push_back(step.index);
    BOOST_TEST(all.contains(indices));
    BOOST_TEST(seen.insert(indices).second);
  }
}

// Independent work of two threads, interleaved, comes before the part that the candidate is about.
BOOST_AUTO_TEST_CASE(another_linearization_switches_less) {
  const std::vector<ThreadId> threads = {0, 1, 0, 1, 0, 1, 0, 1};
  WitnessOrder steps;
  for (std::size_t i = 0; i < threads.size(); i++) {
    WitnessStep step;
    step.thread = threads[i];
    step.index = i;
    step.kind = EventKind::kWrite;
    step.address = 100 + 100 * threads[i];
    steps.push_back(step);
  }
  const std::vector<WitnessOrder> orders = linearizations(steps, 4);
  BOOST_TEST_REQUIRE(orders.size() >= 2u);
  std::vector<ThreadId> order;
  for (const WitnessStep& step : orders[1]) order.push_back(step.thread);
  BOOST_TEST((order == std::vector<ThreadId>{0, 0, 0, 1, 1, 1, 0, 1}));
}

}  // namespace
}  // namespace reweave
