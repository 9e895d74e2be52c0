#define BOOST_TEST_MODULE witness_steps
#include <boost/test/unit_test.hpp>

#include <deque>

#include "predictor/predict.h"
#include "predictor/witness/witness_steps.h"
#include "tests/formats/scratch.h"

namespace reweave::testing {
namespace {

// Returns a trace in which two threads do much work in turns and then race. The model drops the `private` accesses.
std::string long_trace() {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    const std::string t = i % 3 == 0 ? "T1" : "T2";
    text += t + "|w(private" + t + ")|1\n";
    if (i % 10 == 0) text += t + "|acq(l)|2\n" + t + "|r(y)|3\n" + t + "|w(y)|3\n" + t + "|rel(l)|4\n";
  }
  return text + "T1|w(x)|5\nT2|w(privateT2)|6\nT2|r(x)|7\n";
}

// Returns a trace in which T2 reads x at the start, then T1 and T3 do much work, and then T1 writes x.
std::string early_read() {
  std::string text = "T3|w(privateT3)|1\nT2|acq(m)|1\nT2|rel(m)|1\nT2|r(x)|2\nT2|w(privateT2)|2\n";
  for (int i = 0; i < 200; ++i) {
    const std::string t = i % 5 < 3 ? "T1" : "T3";
    text += t + "|acq(l)|2\n" + t + "|r(y)|3\n" + t + "|rel(l)|4\n";
  }
  return text + "T1|w(x)|5\n";
}

struct Fixture {
  explicit Fixture(const std::string& trace = long_trace()) { test::write_bytes(scratch / "t.std", trace); }

  Candidate witness(WitnessSteps::Limits limits) const {
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
  BOOST_TEST(whole.beginning.empty());
}

// Returns the steps of threads in these turns; `all` is the whole witness.
std::vector<WitnessStep> steps_in(const std::vector<WitnessTurn>& turns, std::vector<WitnessStep> all) {
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  std::vector<std::deque<WitnessStep>> left(4);  // by thread
  for (const WitnessStep& step : all) left[step.thread].push_back(step);
  std::vector<WitnessStep> result;
  for (const WitnessTurn& turn : turns) {
    for (std::uint64_t arrivals = 0; arrivals < turn.arrivals;) {
      BOOST_REQUIRE(!left[turn.thread].empty());
      result.push_back(left[turn.thread].front());
      left[turn.thread].pop_front();
      arrivals += result.back().pc == turn.pc ? 1 : 0;
    }
  }
  return result;
}

BOOST_AUTO_TEST_CASE(turns_lead_to_the_witness) {
  for (const std::string& trace : {long_trace(), early_read()}) {
    const Fixture fixture(trace);
    const Candidate whole = fixture.witness({});
    for (std::uint64_t limit = 1; limit < whole.witness.size(); limit += 7) {
      const Candidate end = fixture.witness({.steps = limit});
      BOOST_TEST(end.witness.size() <= limit);
      std::vector<WitnessStep> steps = steps_in(end.beginning, whole.witness);
      steps.insert(steps.end(), end.witness.begin(), end.witness.end());
      BOOST_TEST((steps == whole.witness), "limit " << limit);
    }
  }
}

}  // namespace
}  // namespace reweave::testing
