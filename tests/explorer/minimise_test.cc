// A minimised schedule still fails, and without any one of its preemptions it does not.
#define BOOST_TEST_MODULE minimise
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "explorer/campaign/minimise.h"
#include "explorer/run/switches.h"
#include "tests/explorer/model_program.h"

namespace reweave {
namespace {

using namespace model;  // NOLINT: the programs read better

std::size_t position(const History& history, Executed e) {
  return static_cast<std::size_t>(std::find(history.begin(), history.end(), e) - history.begin());
}
bool in_order(const History& h, std::vector<Executed> events) {
  for (std::size_t i = 0; i + 1 < events.size(); i++)
    if (position(h, events[i]) >= position(h, events[i + 1])) return false;
  return true;
}

// Three threads that share x, with other work around it.
Program lost_update() {
  std::vector<Op> body = {read(8), write(8), read(16), write(24), read(16), write(16), read(8)};
  Program program{{body, body, body}};
  program.fails = [](const History& h) { return in_order(h, {{0, 4}, {1, 5}, {0, 5}}); };
  return program;
}

// Needs three preemptions: thread 0 is stopped twice, thread 1 once.
Program three_stops() {
  std::vector<Op> body = {write(8), write(16), write(8), write(16), write(8)};
  Program program{{body, body}};
  program.fails = [](const History& h) { return in_order(h, {{0, 0}, {1, 0}, {0, 2}, {1, 3}, {0, 4}}); };
  return program;
}

RunResult first_failure(const Program& program) {
  RunRequest request;
  request.policy = "random";
  for (request.seed = 1; request.seed < 100'000; request.seed++)
    if (RunResult run = program.run(request); run.failed()) return run;
  BOOST_FAIL("random never failed");
  return {};
}

void check_minimal(const Program& program, std::size_t preemptions) {
  const Runner runner = [&](const RunRequest& request) { return program.run(request); };
  const RunResult small = minimise(runner, first_failure(program), 3'000).run;
  BOOST_TEST(small.failed());
  const SwitchList list = switches_of(small);
  BOOST_TEST(list.preemptions.size() == preemptions);
  for (std::size_t i = 0; i < list.preemptions.size(); i++) {
    SwitchList rest = list;
    rest.preemptions.erase(rest.preemptions.begin() + static_cast<std::ptrdiff_t>(i));
    BOOST_TEST(!same_failure(runner(request_of(rest)), small));
  }
}

BOOST_AUTO_TEST_CASE(one_preemption_is_enough) { check_minimal(lost_update(), 1); }
BOOST_AUTO_TEST_CASE(three_are_needed_and_three_are_left) { check_minimal(three_stops(), 3); }

BOOST_AUTO_TEST_CASE(a_run_is_made_again_from_its_switches) {
  const Program program = lost_update();
  for (std::uint64_t seed = 1; seed < 50; seed++) {
    RunRequest request;
    request.policy = "random";
    request.seed = seed;
    History first, again;
    program.run(request, &first);
    program.run(request_of(switches_of(program.run(request))), &again);
    BOOST_TEST((first == again));
  }
}

BOOST_AUTO_TEST_CASE(deadlocks_are_minimised_too) {
  std::vector<Op> ab = {lock(8), lock(16), unlock(16), unlock(8)}, ba = {lock(16), lock(8), unlock(8), unlock(16)};
  check_minimal(Program{{ab, ba}}, 1);
}

}  // namespace
}  // namespace reweave
