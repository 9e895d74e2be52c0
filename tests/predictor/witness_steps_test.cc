#define BOOST_TEST_MODULE witness_steps
#include <boost/test/included/unit_test.hpp>

#include "predictor/predict.h"
#include "predictor/witness_steps.h"
#include "tests/formats/scratch.h"

namespace reweave::testing {
namespace {

// A race of two threads that each had much to do before, in turn; `private` ones are dropped by the model.
std::string long_trace() {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    const std::string t = i % 3 == 0 ? "T1" : "T2";
    text += t + "|w(private" + t + ")|1\n";
    if (i % 10 == 0) text += t + "|acq(l)|2\n" + t + "|r(y)|3\n" + t + "|w(y)|3\n" + t + "|rel(l)|4\n";
  }
  return text + "T1|w(x)|5\nT2|w(privateT2)|6\nT2|r(x)|7\n";
}

struct Fixture {
  Fixture() { test::write_bytes(scratch / "t.std", long_trace()); }

  Candidate witness(WitnessSteps::Limits limits) {
    TraceInput input(scratch / "t.std");
    const TraceModel model = input.load([](std::uint64_t, std::uint64_t) {});
    const auto findings = predict(model, {.analyses = {"races"}});
    BOOST_REQUIRE_EQUAL(findings.size(), 1u);
    Candidate candidate;
    WitnessSteps(input, model, findings, limits).fill(0, candidate);
    return candidate;
  }

  test::Scratch scratch;
};

BOOST_FIXTURE_TEST_CASE(all_that_threads_do_is_there, Fixture) {
  const Candidate whole = witness({});
  BOOST_TEST(whole.witness.size() == 1403u);
  BOOST_TEST(whole.skipped_steps == 0u);
  BOOST_TEST(whole.skipped_events == 0u);
  BOOST_TEST(!whole.cut);
}

BOOST_FIXTURE_TEST_CASE(the_start_of_a_long_witness_is_left_out, Fixture) {
  const Candidate whole = witness({});
  for (const std::uint64_t limit : {1200u, 100u, 50u}) {
    const Candidate end = witness({.steps = limit});
    BOOST_REQUIRE(end.witness.size() <= limit);
    BOOST_TEST(end.skipped_steps + end.witness.size() == whole.witness.size());
    const auto skipped = static_cast<std::ptrdiff_t>(end.skipped_steps);
    BOOST_TEST(std::equal(end.witness.begin(), end.witness.end(), whole.witness.begin() + skipped));
    // Unless cut, what is left out are the first events of the trace, all of them schedule points here.
    if (!end.cut) BOOST_TEST(end.skipped_events == end.skipped_steps);
  }
  BOOST_TEST(!witness({.steps = 1200}).cut);
  BOOST_TEST(witness({.steps = 1}).cut);
}

}  // namespace
}  // namespace reweave::testing
