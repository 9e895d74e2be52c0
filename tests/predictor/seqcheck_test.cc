// Worked examples of the feasibility check: the running example of its paper, and one trace for each rule that the
// published text lacks or gets wrong. Events are named by their line, from 1; the model counts from 0.
#define BOOST_TEST_MODULE predictor_seqcheck
#include <boost/test/unit_test.hpp>

#include "predictor/decide/seqcheck.h"
#include "predictor/model/must_order.h"
#include "tests/predictor/oracle.h"
#include "tests/predictor/std_trace.h"

namespace reweave::testing {
namespace {

class Case {
 public:
  explicit Case(const std::string& text) : model(std_model(text)), order(model), check(model, order) {}

  // Returns the answer for `sequence` and `stops`, which are lines. It must agree with exhaustive search.
  bool feasible(std::vector<std::uint32_t> sequence, std::vector<std::uint32_t> stops) {
    OrderQuery query;
    for (std::uint32_t line : sequence) query.sequence.push_back(line - 1);
    for (std::uint32_t line : stops) query.stops.push_back(line - 1);
    const bool answer = check.check(query).answer == Feasibility::kFeasible;
    BOOST_TEST(answer == Oracle(model).feasible(query));
    return answer;
  }
  bool race(std::uint32_t a, std::uint32_t b) { return feasible({}, {a, b}); }

  TraceModel model;
  MustOrder order;
  SeqCheck check;
};

constexpr const char* kRunningExample =
    "T2 acq(l2); T2 w(x); T2 rel(l2); T2 w(y);"
    "T1 acq(l2); T1 w(p); T1 w(x); T1 rel(l2);"
    "T3 acq(l1); T3 r(x); T3 br; T3 w(p); T3 w(y); T3 rel(l1);"
    "T2 acq(l1); T2 r(x); T2 br; T2 r(p); T2 acq(l2); T2 r(y); T2 rel(l2); T2 rel(l1)";

BOOST_AUTO_TEST_CASE(running_example_observations) {
  const Case c(kRunningExample);
  BOOST_TEST(c.model.link[10 - 1] == 7u - 1);
  BOOST_TEST(c.model.link[16 - 1] == 7u - 1);
  BOOST_TEST(c.model.link[18 - 1] == 12u - 1);
  BOOST_TEST(c.model.link[20 - 1] == 13u - 1);
}

BOOST_AUTO_TEST_CASE(running_example_is_feasible) {
  Case c(kRunningExample);
  BOOST_TEST(c.feasible({6, 18, 12}, {}));
}

BOOST_AUTO_TEST_CASE(running_example_closure) {
  const Case c(kRunningExample);
  FeasibleSet set(c.model, c.order);
  for (EventIndex e : {5u, 17u, 11u}) BOOST_TEST(set.require(e));
  BOOST_TEST(set.require(22 - 1));  // closes the section of l1 ...
  BOOST_TEST(set.require(8 - 1));   // ... and that of l2, as the search finds out
  set.settle();
  for (EventIndex e = 0; e < c.model.size(); ++e) BOOST_TEST(set.contains(e) == (e + 1 != 13 && e + 1 != 14));
  Closure closure(c.model, set, {0, 0, 0});
  closure.extend();
  closure.add(6 - 1, 18 - 1);
  closure.add(18 - 1, 12 - 1);
  closure.add(22 - 1, 9 - 1);
  BOOST_TEST(closure.close());
  BOOST_TEST(closure.reaches(7 - 1, 10 - 1));
  BOOST_TEST(closure.reaches(7 - 1, 16 - 1));
  BOOST_TEST(closure.reaches(8 - 1, 19 - 1));
  BOOST_TEST(closure.reaches(2 - 1, 7 - 1));
  BOOST_TEST(closure.reaches(3 - 1, 5 - 1));
}

// A write computed from a changed read carries another value than in the trace.
BOOST_AUTO_TEST_CASE(a1_values_flow_through_threads) {
  // T1: z=1; x=1.  T2: y=x.  T3: if (y==1) z=2.
  Case c("T1 w(z); T1 w(x); T2 r(x); T2 w(y); T3 r(y); T3 br; T3 w(z)");
  BOOST_TEST(!c.race(1, 7));
}

// A read that decides nothing needs no writer.
BOOST_AUTO_TEST_CASE(a2_an_undecided_read_is_free) {
  Case c("T1 w(y); T1 w(x); T2 r(x); T2 w(y)");
  // Without branch events every read decides. With one, only the reads before it in its thread decide.
  BOOST_TEST(!c.race(1, 4));
  Case d("T1 w(y); T1 w(x); T1 br; T2 r(x); T2 w(y)");
  BOOST_TEST(d.race(1, 5));
}

// A decided read of the initial value comes before all writes.
BOOST_AUTO_TEST_CASE(a3_initial_values_are_kept) {
  Case c("T2 r(x); T2 br; T2 w(z); T1 w(x); T1 w(y); T2 w(y); T1 br");
  BOOST_TEST(c.feasible({1, 4}, {}));
  BOOST_TEST(!c.feasible({4, 1, 3}, {}));
  BOOST_TEST(c.race(5, 6));
}

// The check must not require events that follow a racing access.
BOOST_AUTO_TEST_CASE(a4_nothing_after_the_stops_is_needed) {
  Case c("T1 w(x); T1 w(f); T2 w(x); T2 r(f); T2 br");
  BOOST_TEST(c.race(1, 3));
}

// Sections end only if something needs their end.
BOOST_AUTO_TEST_CASE(a5_sections_end_lazily) {
  Case c("T1 acq(l); T1 w(x); T1 r(g); T1 br; T1 rel(l); T2 w(g); T2 acq(l); T2 w(x); T2 rel(l); T3 r(x)");
  BOOST_TEST(c.race(2, 10));
  BOOST_TEST(c.race(8, 10));
  BOOST_TEST(!c.race(2, 8));
}

// Orders must spread over all pairs of threads; otherwise a cycle goes unnoticed.
BOOST_AUTO_TEST_CASE(a6_orders_spread_over_all_pairs) {
  Case c("T1 w(a); T2 r(a); T2 br; T2 w(b); T3 r(b); T3 br; T3 w(c); T4 r(c); T4 br; T4 w(z); T1 w(z)");
  BOOST_TEST(c.race(10, 11));
  BOOST_TEST(!c.feasible({4, 2}, {}));
  BOOST_TEST(!c.feasible({10, 1}, {}));
}

// The thread's own next write comes after the readers of its last.
BOOST_AUTO_TEST_CASE(a7_own_writes_wait_for_readers) {
  Case c("T1 w(x); T2 r(x); T2 br; T2 w(z); T1 w(x); T1 w(z)");
  BOOST_TEST(c.race(4, 6));
  BOOST_TEST(!c.feasible({5, 2, 4}, {}));
}

// Unordered conflicting pairs are the linearisation's problem; it keeps trace order.
BOOST_AUTO_TEST_CASE(a8_unordered_pairs) {
  Case c("T1 w(x); T1 r(x); T1 br; T2 w(x); T2 r(x); T2 br; T1 w(y); T2 w(y)");
  BOOST_TEST(c.race(7, 8));
  BOOST_TEST(c.feasible({5, 1}, {7}));
}

// A deadlock is a state in which nobody has executed the inner acquisition.
BOOST_AUTO_TEST_CASE(a9_deadlocks_are_requests) {
  Case c("T1 acq(l); T1 acq(m); T1 rel(m); T1 rel(l); T2 acq(m); T2 acq(l); T2 rel(l); T2 rel(m)");
  BOOST_TEST(c.feasible({}, {2, 6}));
  Case gated(
      "T1 acq(g); T1 acq(l); T1 acq(m); T1 rel(m); T1 rel(l); T1 rel(g);"
      "T2 acq(g); T2 acq(m); T2 acq(l); T2 rel(l); T2 rel(m); T2 rel(g)");
  BOOST_TEST(!gated.feasible({}, {3, 9}));
}

BOOST_AUTO_TEST_CASE(a9_deadlock_of_three_threads) {
  Case c(
      "T1 acq(a); T1 acq(b); T1 rel(b); T1 rel(a); T2 acq(b); T2 acq(c); T2 rel(c); T2 rel(b);"
      "T3 acq(c); T3 acq(a); T3 rel(a); T3 rel(c)");
  BOOST_TEST(c.feasible({}, {2, 6, 10}));
}

// A deadlock that needs two sections in the reverse of the recorded order.
BOOST_AUTO_TEST_CASE(a9_deadlock_after_a_reversal) {
  Case c(
      "T1 acq(k); T1 w(x); T1 rel(k); T1 acq(l); T1 acq(m); T1 rel(m); T1 rel(l);"
      "T2 acq(k); T2 w(x); T2 rel(k); T2 acq(m); T2 acq(l); T2 rel(l); T2 rel(m);"
      "T1 acq(k); T1 r(x); T1 br; T1 rel(k)");
  BOOST_TEST(c.feasible({}, {5, 12}));
}

// Writers in the reader's own thread also count.
BOOST_AUTO_TEST_CASE(a10_own_writers) {
  Case c("T1 w(x); T1 r(x); T1 br; T2 w(x); T2 w(z); T1 w(z)");
  BOOST_TEST(!c.feasible({1, 4, 2}, {6}));
  BOOST_TEST(c.race(5, 6));
}

// Both orders of the two accesses of a race are the same question.
BOOST_AUTO_TEST_CASE(a12_races_have_no_direction) {
  Case c("T1 acq(l); T1 w(y); T1 rel(l); T1 w(x); T2 acq(l); T2 w(y); T2 rel(l); T2 w(x)");
  BOOST_TEST(c.race(4, 8));
  BOOST_TEST(c.race(8, 4));
}

// The writer must precede the branch, not the read.
BOOST_AUTO_TEST_CASE(a13_the_branch_needs_the_writer) {
  const Case c("T1 w(x); T2 r(x); T2 w(y); T2 br; T2 w(z)");
  BOOST_TEST(!c.order.ordered(0, 1));
  BOOST_TEST(!c.order.ordered(0, 2));
  BOOST_TEST(c.order.ordered(0, 3));
  BOOST_TEST(c.order.ordered(0, 4));
}

}  // namespace
}  // namespace reweave::testing
