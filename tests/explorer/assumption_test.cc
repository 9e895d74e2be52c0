// Assumptions can be written and read back, and hold in runs under every policy.
#define BOOST_TEST_MODULE assumption
#include "explorer/campaign/assumption.h"

#include <boost/test/unit_test.hpp>
#include <cstring>

#include "explorer/run/switches.h"
#include "explorer/searches/prefix_goal.h"
#include "formats/base/error.h"
#include "tests/explorer/model_program.h"

namespace reweave {
namespace {

using namespace model;  // NOLINT: the programs read better

std::uint64_t pc_of(Executed e) { return 0x400000 + e.thread * std::uint64_t{0x1000} + e.index * 4; }

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
  for (const char* text :
       {"uninterrupted deposit:23-27", "uninterrupted deposit:23", "uninterrupted deposit:23.2-27.1",
        "uninterrupted deposit:23-27 and audit:3-5", "uninterrupted deposit:23-27 by audit:31 and close:40.2",
        "uninterrupted begin:3..end:4", "uninterrupted program+0x1234..libm.so.6+0x12", "close:31 only after use:19",
        "ns::Account::deposit(int):23 only after libstdc++.so.6+0x9a",
        "uninterrupted (anonymous namespace)::f(int, char):1-2"})
    BOOST_TEST(text_of(parse_assumption(text)) == text);
}

BOOST_AUTO_TEST_CASE(the_parts_are_what_they_seem) {
  const Assumption block = parse_assumption("uninterrupted a::f:2-9.3 by g:7");
  BOOST_REQUIRE(block.blocks.size() == 1u);
  BOOST_TEST((block.blocks[0].begin == CodePlace{"a::f", 2, 0, 0}));
  BOOST_TEST((block.blocks[0].end == CodePlace{"a::f", 9, 3, 0}));
  BOOST_TEST((block.rivals == std::vector<CodePlace>{{"g", 7, 0, 0}}));
  const Assumption order = parse_assumption("f:1 only after p+0x10");
  BOOST_TEST((order.then == CodePlace{"f", 1, 0, 0}));
  BOOST_TEST((order.first == CodePlace{"p", 0, 0, 0x10}));
}

BOOST_AUTO_TEST_CASE(what_is_no_assumption_is_refused) {
  for (const char* text :
       {"", "deposit", "uninterrupted", "uninterrupted ", "uninterrupted f", "uninterrupted f:0", "uninterrupted f:3-",
        "uninterrupted f:1..g:2..h:3", "f:1 only after ", "only after f:1", "f:1 only after g:2 only after h:3",
        "f:99999999999 only after g:1", "f:1.0 only after g:1", "f+0x only after g:1", "f:1 before g:2"})
    BOOST_CHECK_THROW(parse_assumption(text), BadInput);
}

BOOST_AUTO_TEST_CASE(more_than_a_run_can_hold_is_refused) {
  AssumedCode code;
  for (std::uint64_t i = 1; i <= kMostRegions + 1; i++) code.blocks.push_back({i, i});
  BOOST_CHECK_THROW(held_under(code), BadInput);
  HeldGoals held;
  AssumedCode order;
  order.first = 1, order.then = 2;
  for (std::uint32_t i = 0; i < kMostOrders; i++) assume(order, held);
  BOOST_CHECK_THROW(assume(order, held), BadInput);
}

// Two threads read and write a variable; an update is lost if one writes between the other's two.
Program lost_update() {
  const std::vector<Op> body = {read(16), read(8), read(24), write(8), write(32)};
  Program program{{body, body}};
  program.fails = [](const History& h) {
    std::vector<Executed> uses;
    for (const Executed& e : h)
      if (e.index == 1 || e.index == 3) uses.push_back(e);
    return uses.size() == 4 && uses[0].thread != uses[1].thread;
  };
  return program;
}
std::shared_ptr<const HeldGoals> blocks_of_lost_update() {
  AssumedCode code;
  for (ThreadId thread = 0; thread < 2; thread++) code.blocks.push_back({pc_of({thread, 1}), pc_of({thread, 3})});
  return std::make_shared<const HeldGoals>(held_under(code));
}

BOOST_AUTO_TEST_CASE(it_holds_whatever_the_policy) {
  const Program program = lost_update();
  for (const char* policy : {"random", "pos", "pct", "fair", "chaos"}) {
    int failed = 0;
    for (std::uint64_t seed = 1; seed <= 200; seed++) {
      RunRequest request;
      request.policy = policy;
      request.seed = seed;
      request.length = 10;
      failed += program.run(request).failed() ? 1 : 0;
      request.held = blocks_of_lost_update();
      const RunResult run = program.run(with_held_goals(request));
      BOOST_TEST(!run.failed(), policy << " " << seed);
      BOOST_TEST(run.guide.held_let_go == 0u, policy << " " << seed);
    }
    if (policy == std::string_view("random")) BOOST_TEST(failed > 0);
  }
}

// A schedule that fails. Under the assumption the policy follows it only as far as it may, and the run passes.
BOOST_AUTO_TEST_CASE(it_holds_where_a_schedule_is_followed) {
  const Program program = lost_update();
  RunRequest request;
  request.policy = "random";
  RunResult failing;
  for (request.seed = 1; !failing.failed(); request.seed++) failing = program.run(request);
  request = request_of(switches_of(failing));
  BOOST_TEST(program.run(with_held_goals(request)).failed());  // nothing is assumed
  request.held = blocks_of_lost_update();
  BOOST_TEST(!program.run(with_held_goals(request)).failed());
}

BOOST_AUTO_TEST_CASE(the_policy_has_its_own_goal) {
  const Program program{{{write(8), write(16)}, {write(8), write(16)}}};
  RunRequest request;
  request.policy = "prefix";
  const std::uint16_t choices[] = {1, 0, 1, 0};
  const PrefixGoal header = {4, 0};
  request.goal.resize(sizeof header + sizeof choices);
  std::memcpy(request.goal.data(), &header, sizeof header);
  std::memcpy(request.goal.data() + sizeof header, choices, sizeof choices);
  History plain, held;
  program.run(request, &plain);
  AssumedCode never_reached;
  never_reached.blocks = {{0x1, 0x2}};
  request.held = std::make_shared<const HeldGoals>(held_under(never_reached));
  program.run(with_held_goals(request), &held);
  BOOST_TEST((plain == held));
}

BOOST_AUTO_TEST_CASE(what_cannot_hold_is_counted_apart_from_the_own_orders) {
  const Program program{{{write(8), write(16)}, {read(8), read(16)}}};
  AssumedCode impossible;
  impossible.first = 0x1, impossible.then = pc_of({0, 0});
  Guide own;
  own.choices = 0;
  own.orders = {{{0x1, 1, 0, 0}, {pc_of({1, 1}), 1, 1, 0}}};
  for (std::uint64_t seed = 1; seed <= 50; seed++) {
    RunRequest request = request_of(own, seed);
    const RunResult without = program.run(with_held_goals(request));
    BOOST_TEST(without.guide.let_go > 0u);
    BOOST_TEST(without.guide.held_let_go == 0u);
    request.held = std::make_shared<const HeldGoals>(held_under(impossible));
    BOOST_TEST(program.run(with_held_goals(request)).guide.held_let_go > 0u);
  }
}

}  // namespace
}  // namespace reweave
