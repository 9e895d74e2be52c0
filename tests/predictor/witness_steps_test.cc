#define BOOST_TEST_MODULE witness_steps
#include <boost/test/unit_test.hpp>

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

// T2 reads before nearly all of what T1 does before it writes, and T3 in between.
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
  BOOST_TEST(whole.skipped_steps == 0u);
  BOOST_TEST(whole.skipped_events == 0u);
  BOOST_TEST(!whole.cut);
}

// What `candidate` says of the beginning of its witness, step by step; `all`: the schedule points of the whole witness.
std::vector<WitnessStep> beginning_of(const Candidate& candidate, std::vector<WitnessStep> all) {
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  std::vector<WitnessStep> result;
  std::vector<std::vector<WitnessStep>> left(4);  // by thread
  for (const WitnessStep& step : all) {
    if (step.index < candidate.skipped_events) {
      result.push_back(step);
    } else {
      if (left[1].empty() && left[2].empty() && left[3].empty()) BOOST_TEST((step == candidate.turns.at(0)));
      left[step.thread].push_back(step);
    }
  }
  for (std::size_t turn = 1; turn < candidate.turns.size(); ++turn) {
    auto& mine = left[candidate.turns[turn].thread];
    const auto end = std::find(mine.begin(), mine.end(), candidate.turns[turn]) + 1;
    result.insert(result.end(), mine.begin(), end);
    mine.erase(mine.begin(), end);
  }
  return result;
}

BOOST_AUTO_TEST_CASE(turns_tell_what_was_cut) {
  const Fixture fixture(early_read());
  const Candidate whole = fixture.witness({});
  int cut = 0;
  for (std::uint64_t limit = 1; limit < whole.witness.size(); limit += 7) {
    const Candidate end = fixture.witness({.steps = limit});
    if (end.turns.empty()) continue;
    BOOST_TEST(end.cut);
    ++cut;
    std::vector<WitnessStep> steps = beginning_of(end, whole.witness);
    BOOST_TEST(steps.size() == end.skipped_steps);
    steps.insert(steps.end(), end.witness.begin(), end.witness.end());
    BOOST_TEST((steps == whole.witness), "limit " << limit);
  }
  BOOST_TEST(cut > 30);
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
