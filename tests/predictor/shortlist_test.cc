// The printed list has one entry per cause, and a share for each kind. Findings in correct programs rank low.
#define BOOST_TEST_MODULE predictor_shortlist
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "predictor/predict.h"
#include "predictor/report/shortlist.h"
#include "tests/predictor/std_trace.h"

namespace reweave::testing {
namespace {

std::vector<Finding> many(FindingKind kind, std::size_t count, double score) {
  Finding finding;
  finding.kind = kind;
  finding.score = score;
  return std::vector<Finding>(count, finding);
}

std::vector<Finding> joined(std::vector<Finding> a, const std::vector<Finding>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::size_t count_of(const std::vector<Finding>& findings, FindingKind kind) {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.kind == kind; }));
}

BOOST_AUTO_TEST_CASE(one_kind_does_not_push_out_another) {
  auto findings = joined(many(FindingKind::kAtomicity, 960, 2), many(FindingKind::kRace, 120, 1));
  BOOST_TEST(keep_best(1000, findings) == 80u);
  BOOST_TEST(findings.size() == 1000u);
  BOOST_TEST(count_of(findings, FindingKind::kRace) == 120u);
  BOOST_TEST(findings.front().score == 2);
}

BOOST_AUTO_TEST_CASE(few_findings_and_no_limit) {
  auto findings = many(FindingKind::kRace, 5, 1);
  BOOST_TEST(keep_best(5, findings) == 0u);
  BOOST_TEST(keep_best(0, findings) == 0u);
  BOOST_TEST(findings.size() == 5u);
}

// The read and the write of an increment are different code locations, but one place in the source.
BOOST_AUTO_TEST_CASE(one_cause_is_one_entry) {
  const TraceModel model = std_model("T0 r(x);T0 w(x);T1 w(x);T0 br");
  PredictOptions options{.analyses = {"races"}};
  const std::size_t apart = predict(model, options).size();
  options.place = [](std::uint32_t site) { return site <= 2 ? "one" : "two"; };
  const auto found = predict(model, options);
  BOOST_TEST(apart == 2u);
  BOOST_TEST_REQUIRE(found.size() == 1u);
  BOOST_TEST(found[0].count == 2u);
  BOOST_TEST(found[0].remarks.size() == 1u);
}

BOOST_AUTO_TEST_CASE(what_the_limit_cuts_is_counted) {
  const TraceModel model = std_model("T0 w(x);T0 w(y);T1 w(x);T1 w(y)");
  PredictOptions options{.analyses = {"races"}};
  options.limits.findings = 1;
  PredictStats stats;
  BOOST_TEST(predict(model, options, &stats).size() == 1u);
  BOOST_TEST(stats.left_out.findings == 1u);
}

// Two threads can be in the section at once only if the values that they read from `units` decided nothing.
BOOST_AUTO_TEST_CASE(a_semaphore_of_the_programs_own_ranks_low) {
  std::string text;
  for (const char* t : {"T0", "T1"}) {
    for (const char* op : {"acq(l)", "r(units)", "w(units)", "rel(l)", "r(count)", "w(count)", "acq(l)", "r(units)",
                           "w(units)", "rel(l)"}) {
      text += std::string(t) + " " + op + "\n";
    }
  }
  for (const Finding& finding : predict(std_model(text), {})) {
    BOOST_TEST((!worth_reading(finding.score)), finding.pattern << " " << finding.score);
    BOOST_TEST((finding.assumes_data_only || finding.pattern == "read-before-write"));
  }
}

BOOST_AUTO_TEST_CASE(a_lost_update_stays_on_top) {
  const auto found = predict(std_model("T0 acq(l);T0 r(x);T0 rel(l);T0 acq(l);T0 w(x);T0 rel(l);"
                                       "T1 acq(l);T1 r(x);T1 rel(l);T1 acq(l);T1 w(x);T1 rel(l)"),
                             {});
  BOOST_TEST_REQUIRE(!found.empty());
  BOOST_TEST(found[0].pattern == "R1-W2-W1");
  BOOST_TEST(worth_reading(found[0].score));
}

// The distance between the read and the write does not matter.
BOOST_AUTO_TEST_CASE(a_lost_update_with_much_in_between) {
  std::string text;
  for (const char* t : {"T0", "T1"}) {
    text += std::string(t) + " acq(l)\n" + t + " r(x)\n" + t + " rel(l)\n";
    for (int i = 0; i < 1000; ++i) text += std::string(t) + " aw(tick)\n";
    text += std::string(t) + " acq(l)\n" + t + " w(x)\n" + t + " rel(l)\n";
  }
  const auto found = predict(std_model(text), {});
  BOOST_TEST(std::any_of(found.begin(), found.end(), [](const Finding& f) { return f.pattern == "R1-W2-W1"; }));
}

// A write from before the second thread started does not count as part of a later change.
BOOST_AUTO_TEST_CASE(a_state_that_is_made_and_then_changed_ranks_low) {
  const std::string rest = "T1 acq(l);T1 r(x);T1 rel(l);T0 acq(l);T0 w(x);T0 rel(l)";
  const auto made = predict(std_model("T0 w(x);T0 fork(T1);" + rest), {});
  BOOST_TEST_REQUIRE(made.size() == 1u);
  BOOST_TEST(made[0].pattern == "W1-R2-W1");
  BOOST_TEST(made[0].remarks.size() == 1u);
  BOOST_TEST((!worth_reading(made[0].score)));
  const auto seen = predict(std_model("T0 fork(T1);T0 acq(l);T0 w(x);T0 rel(l);" + rest), {});
  BOOST_TEST_REQUIRE(!seen.empty());
  BOOST_TEST(seen[0].pattern == "W1-R2-W1");
  BOOST_TEST(worth_reading(seen[0].score));
}

BOOST_AUTO_TEST_CASE(an_atomic_counter_ranks_low) {
  for (const Finding& finding : predict(std_model("T0 au(n);T0 au(n);T1 au(n);T1 au(n);T0 ar(n)"), {}))
    BOOST_TEST((!worth_reading(finding.score)), finding.pattern << " " << finding.score);
}

BOOST_AUTO_TEST_CASE(what_is_received_comes_after_what_was_sent) {
  BOOST_TEST(predict(std_model("T0 w(x);T0 send(pipe);T1 receive(pipe);T1 r(x)"), {}).empty());
  BOOST_TEST(!predict(std_model("T0 w(x);T0 send(pipe);T1 receive(other);T1 r(x)"), {}).empty());
  BOOST_TEST(!predict(std_model("T0 send(pipe);T0 w(x);T1 receive(pipe);T1 r(x)"), {}).empty());
}

}  // namespace
}  // namespace reweave::testing
