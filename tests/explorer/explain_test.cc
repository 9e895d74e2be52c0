// An explanation names the order on which the failure depends, found by experiments in model programs.
#define BOOST_TEST_MODULE explain
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>

#include "explorer/explain/explain.h"
#include "explorer/explain/flips.h"
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

Batch batch_of(const Program& program) {
  return [&program](const std::vector<RunRequest>& requests) {
    std::vector<RunResult> results;
    for (const RunRequest& request : requests) results.push_back(program.run(request));
    return results;
  };
}

// Returns a failing run with as few preemptions as `random` happens to give: explain does not need a minimal one.
RunResult failing_run(const Program& program) {
  for (std::uint64_t seed = 1; seed < 100'000; seed++) {
    RunRequest request;
    request.policy = "random";
    request.seed = seed;
    RunResult run = program.run(request);
    if (run.failed()) return program.run(request_of(switches_of(run)));
  }
  BOOST_FAIL("random never failed");
  return {};
}

Arrival name_of(Executed e) {
  // The pc that the model gives to this operation.
  return {0x400000 + e.thread * std::uint64_t{0x1000} + e.index * 4, 1, e.thread, 0};
}

bool is_pair(const EventPair& pair, Executed first, Executed then) {
  return pair.first.name == name_of(first) && pair.then.name == name_of(then);
}

// The last remedy that was tried, which must prevent the failure and have this advice.
Remedy preventing_remedy(const Explanation& found, Advice advice) {
  BOOST_REQUIRE(!found.remedies.empty());
  const Remedy& remedy = found.remedies.back();
  BOOST_TEST(remedy.rate.never());
  BOOST_TEST((remedy.advice == advice));
  return remedy;
}

BOOST_AUTO_TEST_CASE(a_broken_block_is_found_and_its_remedy_works) {
  std::vector<Op> body = {read(16), read(8), read(24), write(8), write(32)};
  Program program{{body, body}};
  const auto lost = [](const History& h, ThreadId a, ThreadId b) { return in_order(h, {{a, 1}, {b, 3}, {a, 3}}); };
  program.fails = [&](const History& h) { return lost(h, 0, 1); };
  const Batch batch = batch_of(program);
  const RunResult failing = failing_run(program);
  const Explanation found = explain(batch, failing, {});
  BOOST_REQUIRE(!found.flips.empty());
  const Flip& flip = found.flips.front();
  BOOST_TEST(flip.is_necessary());
  BOOST_TEST(flip.forced.always());
  BOOST_REQUIRE(flip.block_tells);
  BOOST_TEST((flip.block->begin.name == name_of({0, 1})));
  BOOST_TEST((flip.block->between.name == name_of({1, 3})));
  BOOST_TEST((flip.block->end.name == name_of({0, 3})));
  BOOST_TEST(preventing_remedy(found, Advice::kHoldOver).rate.let_go == 0u);
  BOOST_REQUIRE(found.inevitable().has_value());
}

BOOST_AUTO_TEST_CASE(the_broken_block_lies_under_locks) {
  std::vector<Op> body = {lock(64), read(8), unlock(64), lock(64), write(8), unlock(64)};
  Program program{{body, body}};
  program.fails = [](const History& h) { return in_order(h, {{0, 1}, {1, 4}, {0, 4}}); };
  const Batch batch = batch_of(program);
  const RunResult failing = failing_run(program);
  const Explanation found = explain(batch, failing, {});
  BOOST_REQUIRE(!found.flips.empty());
  BOOST_TEST(found.flips.front().is_necessary());
  BOOST_TEST(found.flips.front().forced.always());
  BOOST_REQUIRE(!found.remedies.empty());
  BOOST_TEST(found.remedies.back().rate.never());
  BOOST_TEST(found.remedies.back().rate.let_go == 0u);
}

// The remedy extends the lock over both critical sections. A thread that waits for the lock at the beginning of the
// block does not stop the thread that holds it from releasing it.
BOOST_AUTO_TEST_CASE(a_block_from_one_acquisition_to_the_next_can_always_be_kept) {
  std::vector<Op> body = {lock(64), unlock(64), lock(64), unlock(64)};
  Program program{{body, body}};
  program.fails = [](const History& h) { return in_order(h, {{0, 0}, {1, 0}, {0, 2}}); };
  const Batch batch = batch_of(program);
  const RunResult failing = failing_run(program);
  const Explanation found = explain(batch, failing, {});
  const Remedy remedy = preventing_remedy(found, Advice::kHoldOver);
  BOOST_TEST((remedy.begin.name == name_of({0, 0})));
  BOOST_TEST((remedy.end.name == name_of({0, 2})));
  BOOST_TEST(remedy.rate.let_go == 0u);
}

BOOST_AUTO_TEST_CASE(a_cycle_of_locks_is_told) {
  std::vector<Op> ab = {lock(8), lock(16), unlock(16), unlock(8)}, ba = {lock(16), lock(8), unlock(8), unlock(16)};
  const Program program{{ab, ba}};
  const Batch batch = batch_of(program);
  const RunResult failing = failing_run(program);
  const Explanation found = explain(batch, failing, {});
  BOOST_REQUIRE(found.deadlock.size() == 2u);
  for (std::size_t i = 0; i < 2; i++)
    BOOST_TEST(found.deadlock[i].wants.note.object == found.deadlock[1 - i].holds.note.object);
  preventing_remedy(found, Advice::kLockOrder);
}

// Appends `before` operations on private variables, then `op`.
void append(std::vector<Op>& body, int before, const Op& op) {
  for (int i = 0; i < before; i++) body.push_back(write(1000 + 8 * body.size()));
  body.push_back(op);
}

// Neither order alone makes random schedules fail: each read may come before or after each write.
BOOST_AUTO_TEST_CASE(two_orders_that_fail_only_together_are_the_cause) {
  constexpr std::size_t kFar = 6;
  Program program{{{}, {}}};
  program.threads[0] = {write(8), write(16)};
  append(program.threads[1], 0, read(8));
  append(program.threads[1], kFar, read(16));
  const auto is_torn = [&](const History& h) {
    return in_order(h, {{0, 0}, {1, 0}}) && in_order(h, {{1, kFar + 1}, {0, 1}});
  };
  program.fails = is_torn;
  const Batch batch = batch_of(program);
  const RunResult failing = failing_run(program);
  const Explanation found = explain(batch, failing, {});
  BOOST_REQUIRE(found.together.has_value());
  BOOST_TEST(found.cause_is_shown());
  BOOST_TEST(found.together->forced.always());
  BOOST_REQUIRE(found.together->members.size() == 2u);
  BOOST_TEST(is_pair(found.together->members[0].pair, {0, 0}, {1, 0}));
  BOOST_TEST(is_pair(found.together->members[1].pair, {1, kFar + 1}, {0, 1}));
  for (const OrderSet::Member& member : found.together->members) BOOST_TEST(member.broken.never());
  // The first write announces the second one, so the opposite order of the writes is enough.
  const Remedy remedy = preventing_remedy(found, Advice::kSwap);
  BOOST_TEST((remedy.begin.name == name_of({0, 0})));
  BOOST_TEST((remedy.end.name == name_of({0, 1})));
}

// Half of an update is wrong in both orders of its writes.
BOOST_AUTO_TEST_CASE(one_lock_over_both_threads_prevents_a_torn_read) {
  constexpr std::size_t kFar = 6;
  Program program{{{}, {}}};
  append(program.threads[0], 0, write(8));
  append(program.threads[0], kFar, write(16));
  append(program.threads[1], 0, read(8));
  append(program.threads[1], kFar, read(16));
  program.fails = [&](const History& h) {
    return in_order(h, {{0, 0}, {1, 0}}) != in_order(h, {{0, kFar + 1}, {1, kFar + 1}});
  };
  const Batch batch = batch_of(program);
  const RunResult failing = failing_run(program);
  const Explanation found = explain(batch, failing, {});
  const Remedy remedy = preventing_remedy(found, Advice::kHoldOver);
  BOOST_REQUIRE(remedy.other.has_value());
  BOOST_TEST(remedy.begin.name.thread != remedy.other->begin.name.thread);
  for (const ThreadCode& code : {ThreadCode{remedy.begin, remedy.end}, *remedy.other}) {
    BOOST_TEST((code.begin.name == name_of({code.begin.name.thread, 0})));
    BOOST_TEST((code.end.name == name_of({code.begin.name.thread, kFar + 1})));
  }
}

BOOST_AUTO_TEST_CASE(a_writer_without_the_lock_has_to_hold_it) {
  Program program{{{lock(64), read(8), read(16), write(8), unlock(64)}, {read(24), write(8), read(24)}}};
  program.fails = [](const History& h) { return in_order(h, {{0, 1}, {1, 1}, {0, 3}}); };
  const Batch batch = batch_of(program);
  const RunResult failing = failing_run(program);
  const Explanation found = explain(batch, failing, {});
  const Remedy remedy = preventing_remedy(found, Advice::kHoldAround);
  BOOST_REQUIRE(!remedy.begin.locks.empty());
  BOOST_TEST(remedy.begin.locks.front().object == 64u);
  BOOST_REQUIRE(remedy.other.has_value());
  BOOST_TEST((remedy.other->end.name == name_of({1, 1})));
}

// Each thread writes its cell and then reads its neighbour's, as code that runs in both threads.
BOOST_AUTO_TEST_CASE(a_barrier_lets_every_thread_wait_for_all) {
  const auto body = [](std::uint64_t own, std::uint64_t neighbours) {
    return std::vector<Op>{read(own), write(own), write(own + 100), read(neighbours)};
  };
  Program program{{body(8, 16), body(16, 8)}};
  program.fails = [](const History& h) { return in_order(h, {{0, 3}, {1, 1}}) || in_order(h, {{1, 3}, {0, 1}}); };
  const Batch batch = batch_of(program);
  const RunResult failing = failing_run(program);
  ExplainOptions options;
  options.same_place = [](std::uint64_t a, std::uint64_t b) { return (a & 0xfff) == (b & 0xfff); };
  const Explanation found = explain(batch, failing, options);
  const Remedy remedy = preventing_remedy(found, Advice::kWaitForAll);
  BOOST_TEST((remedy.begin.name.pc & 0xfff) == 4u);
  BOOST_TEST((remedy.end.name.pc & 0xfff) == 12u);
}

// Random schedules hardly ever fail, so only those that begin like the failing one can show what a remedy does.
BOOST_AUTO_TEST_CASE(a_remedy_for_a_rare_failure_is_judged_near_the_failing_schedule) {
  constexpr std::size_t kRounds = 5;
  Program program{{{}, {}}};
  for (std::size_t i = 0; i < kRounds; i++) {
    append(program.threads[0], 0, write(8));
    append(program.threads[1], 0, write(8));
  }
  // The threads take turns, and only the last write is a mistake.
  program.fails = [](const History& h) {
    std::vector<Executed> turns;
    for (std::size_t i = 0; i < kRounds; i++) turns.insert(turns.end(), {{0, i}, {1, i}});
    return in_order(h, turns);
  };
  const Batch batch = batch_of(program);
  const RunResult failing = failing_run(program);
  const Explanation found = explain(batch, failing, {});
  for (const Remedy& remedy : found.remedies) {
    if (fails_more(found.base, remedy.rate)) continue;
    BOOST_TEST(remedy.near.never());
    BOOST_TEST(fails_more(found.near(), remedy.near));
  }
  BOOST_TEST(!found.remedies.empty());
}

BOOST_AUTO_TEST_CASE(a_failure_of_every_schedule_has_no_cause_in_the_order) {
  Program program{{{write(8)}, {read(8)}}};
  program.fails = [](const History&) { return true; };
  const Batch batch = batch_of(program);
  const RunResult failing = failing_run(program);
  const Explanation found = explain(batch, failing, {});
  BOOST_TEST(found.flips.empty());
  BOOST_TEST(!found.passing.has_value());
  BOOST_TEST(!found.notes.empty());
}

BOOST_AUTO_TEST_CASE(a_program_with_one_schedule_is_repeated_once) {
  Program program{{{write(8), write(16)}}};
  program.fails = [](const History&) { return true; };
  const Batch batch = batch_of(program);
  const Explanation found = explain(batch, failing_run(program), {.one_schedule = true});
  BOOST_TEST(found.runs == 1u);
  BOOST_TEST(found.base.always());
  BOOST_TEST(found.flips.empty());
  BOOST_TEST(found.curve.empty());
  BOOST_TEST(found.notes.size() == 1u);
}

BOOST_AUTO_TEST_CASE(what_is_forced_holds_in_every_run) {
  std::vector<Op> body = {lock(64), write(8), unlock(64), read(16), write(24)};
  const Program program{{body, body, body}};
  Guide guide;
  guide.choices = 0;
  guide.continuation = "random";
  guide.orders = {{name_of({2, 4}), name_of({0, 0})}, {name_of({0, 3}), name_of({1, 0})}};
  for (std::uint64_t seed = 1; seed <= 200; seed++) {
    History history;
    const RunResult run = program.run(request_of(guide, seed), &history);
    BOOST_TEST(run.guide.let_go == 0u);
    BOOST_TEST(in_order(history, {{2, 4}, {0, 1}}));
    BOOST_TEST(in_order(history, {{0, 3}, {1, 1}}));
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_feasible_is_given_up_and_counted) {
  const Program program{{{write(8), write(16)}, {read(8), read(16)}}};
  Guide guide;
  guide.choices = 0;
  guide.orders = {{name_of({0, 1}), name_of({1, 0})}, {name_of({1, 0}), name_of({0, 0})}};
  for (std::uint64_t seed = 1; seed <= 50; seed++) {
    const RunResult run = program.run(request_of(guide, seed));
    BOOST_TEST(run.guide.let_go > 0u);
    BOOST_TEST(!run.failed());
  }
}

// In these programs the failure depends only on the order of one conflicting pair. That pair comes first, or one that
// agrees with it in all possible histories.
BOOST_AUTO_TEST_CASE(the_pair_that_decides_comes_first) {
  std::mt19937_64 random(20261126);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  int programs = 0;
  while (programs < 60) {
    Program program;
    for (int t = 0; t < 2; t++) {
      std::vector<Op> body;
      for (int i = 0; i < 4; i++) body.push_back(below(2) == 0 ? read(8 + 8 * below(3)) : write(8 + 8 * below(3)));
      program.threads.push_back(body);
    }
    const Executed a = {static_cast<ThreadId>(below(2)), below(4)}, b = {static_cast<ThreadId>(1 - a.thread), below(4)};
    const Op &first = program.op(a), &second = program.op(b);
    if (first.object != second.object || (!first.write && !second.write)) continue;
    programs++;
    program.fails = [=](const History& h) { return in_order(h, {a, b}); };
    const Batch batch = batch_of(program);
    const RunResult failing = failing_run(program);
    const Explanation found = explain(batch, failing, {});
    BOOST_REQUIRE(!found.flips.empty());
    const EventPair& pair = found.flips.front().pair;
    bool same = true;
    for (const History& history : program.all_histories()) {
      const auto executed = [](const Event& event) { return Executed{event.name.thread, (event.name.pc & 0xfff) / 4}; };
      same = same && in_order(history, {executed(pair.first), executed(pair.then)}) == program.fails(history);
    }
    BOOST_TEST(same);
    BOOST_TEST(is_pair(pair, a, b) == same);
  }
}

double ways(unsigned of, unsigned chosen) {
  double count = 1;
  for (unsigned i = 0; i < chosen; i++) count = count * (of - i) / (i + 1);
  return count;
}

// Returns the share of all 2x2 tables with these margins in which at least `more.failed` of the first runs fail (the
// one-sided exact test of Fisher).
double share_by_chance(const Rate& more, const Rate& less) {
  const auto first = static_cast<unsigned>(more.tried), second = static_cast<unsigned>(less.tried);
  const auto failed = static_cast<unsigned>(more.failed + less.failed);
  double share = 0;
  for (auto i = static_cast<unsigned>(more.failed); i <= std::min(first, failed); i++)
    if (failed - i <= second) share += ways(first, i) * ways(second, failed - i);
  return share / ways(first + second, failed);
}

BOOST_AUTO_TEST_CASE(what_fails_more_than_by_chance) {
  constexpr std::uint64_t kMost = 9;
  for (Rate more; more.tried <= kMost; more.tried++)
    for (more.failed = 0; more.failed <= more.tried; more.failed++)
      for (Rate less; less.tried <= kMost; less.tried++)
        for (less.failed = 0; less.failed <= less.tried; less.failed++)
          BOOST_TEST(fails_more(more, less) == (share_by_chance(more, less) < 0.01),
                     more.failed << " of " << more.tried << ", " << less.failed << " of " << less.tried);
  BOOST_TEST(fails_more({40, 36}, {40, 4}));
  BOOST_TEST(!fails_more({20, 20}, {40, 40}));
  BOOST_TEST(!fails_more({17, 9}, {20, 9}));
}

BOOST_AUTO_TEST_CASE(orders_that_make_runs_fail) {
  BOOST_TEST(makes_fail({40, 40}, {40, 0}, {100, 90}));   // almost all fail
  BOOST_TEST(makes_fail({160, 40}, {160, 0}, {100, 5}));  // more than without a forced order
  BOOST_TEST(makes_fail({40, 20}, {}, {100, 5}));         // the other order is not feasible
  BOOST_TEST(!makes_fail({40, 10}, {40, 0}, {100, 11}));  // only the other order makes a difference
  BOOST_TEST(!makes_fail({40, 40}, {40, 40}, {100, 90}));
}

BOOST_AUTO_TEST_CASE(intervals_are_those_of_the_tables) {
  const Interval none = interval_of({20, 0, 0, 0}), half = interval_of({10, 5, 0, 0}), nothing = interval_of({});
  BOOST_TEST(none.low == 0.0);
  BOOST_TEST(none.high == 0.16843, boost::test_tools::tolerance(1e-3));
  BOOST_TEST(half.low == 0.18709, boost::test_tools::tolerance(1e-3));
  BOOST_TEST(half.high == 0.81291, boost::test_tools::tolerance(1e-3));
  BOOST_TEST(nothing.high == 1.0);
}

}  // namespace
}  // namespace reweave
