// The verdict on a fix follows from the runs that were tried; a report that contradicts them is noticed.
#define BOOST_TEST_MODULE fix_report
#include "explorer/fixed/fix_report.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "formats/base/exit_status.h"

namespace reweave {
namespace {

using nlohmann::json;

struct Case {
  OldFailure old;
  FixReport report{.old = old, .recording = "new", .pairs = {}, .schedule = {}, .failures = {}};

  Case() {
    old.recording = "old";
    old.end.outcome = wire::OutcomeKind::kSignalled;
    old.end.wait_status = 6;
    old.last_words = "program: a.c:10: audit: Assertion `x == 20' failed.";
    report.strategy = "auto";
    report.search.runs = 2010;
    report.search.left_recording = 10;
    report.pairs = {{"f (a.c:1) before g (a.c:2)", true, 18, 0, 2}, {"f (a.c:3) before g (a.c:2)", false, 0, 0, 0}};
    report.schedule = {5, 4, 3, true, false, "left in turn 4 of 4"};
  }
};

BOOST_AUTO_TEST_CASE(nothing_failed) {
  Case c;
  const json report = fix_json(c.report);
  BOOST_TEST(report.at("verdict") == "fixed");
  BOOST_TEST(fix_status(report) == 0);
  BOOST_TEST(std::abs(report.at("search").at("at_most").get<double>() - 0.001497) < 1e-6);
  const std::string text = fix_text(report);
  for (const char* words :
       {"Fixed, as far as was tried: no run failed.", "0 of 2000 runs fail (at most 0.15 % of such runs, 95 %)",
        "10 more say nothing", "0 of 18 runs fail; 2 more did not reach the order", "its lines no longer exist",
        "followed for 3 of 5 turns of threads (left in turn 4 of 4); the run passed"})
    BOOST_TEST(text.find(words) != text.npos, words << " in\n" << text);
}

BOOST_AUTO_TEST_CASE(failures_decide) {
  Case c;
  c.report.search.failed = 3;
  c.report.failures = {{"again/failure-1", "exit status 3", "", "auto", false}};
  json report = fix_json(c.report);
  BOOST_TEST(report.at("verdict") == "moved");
  BOOST_TEST(fix_status(report) == kExitFailureFound);
  BOOST_TEST(report.at("search").at("at_most").is_null());
  c.report.failures.push_back({"again/failure-2", "killed", "", "auto", true});
  report = fix_json(c.report);
  BOOST_TEST(report.at("verdict") == "still fails");
  BOOST_TEST(fix_status(report) == kExitFailureFound);
}

BOOST_AUTO_TEST_CASE(nothing_was_examined) {
  Case c;
  c.report.search = {};
  const json report = fix_json(c.report);
  BOOST_TEST(report.at("verdict") == "unknown");
  BOOST_TEST(fix_status(report) == kExitNotExamined);
}

BOOST_AUTO_TEST_CASE(a_search_that_does_not_draw_has_no_bound) {
  Case c;
  c.report.strategy = "dfs";
  BOOST_TEST(fix_json(c.report).at("search").at("at_most").is_null());
}

BOOST_AUTO_TEST_CASE(what_does_not_follow_is_found_out) {
  Case c;
  const json report = fix_json(c.report);
  BOOST_TEST(!check_fix(report).has_value());
  const std::pair<const char*, json> changes[] = {{"/verdict", "unknown"},
                                                  {"/verdict", "still fails"},
                                                  {"/search/at_most", 0.001},
                                                  {"/search/at_most", nullptr},
                                                  {"/search/failed", 1},
                                                  {"/search/failed", 3000},
                                                  {"/search/examined", 1000},
                                                  {"/search/examined", 3000},
                                                  {"/pairs/0/failed", 19},
                                                  {"/pairs/1/runs", 1},
                                                  {"/schedule/followed", 5},
                                                  {"/schedule/found", 6},
                                                  {"/schedule/made", "yes"},
                                                  {"/recorded/failed", 1},
                                                  {"/failures", {{{"same", false}}}},
                                                  {"/search/strategy", "dfs"},
                                                  {"/pairs", 7}};
  for (const auto& [where, value] : changes) {
    json other = report;
    other[json::json_pointer(where)] = value;
    BOOST_TEST(check_fix(other).has_value(), where << " " << value.dump());
  }
}

BOOST_AUTO_TEST_CASE(the_same_failure_in_another_build) {
  const Case c;
  RunResult end = c.old.end;
  BOOST_TEST(is_same_failure(c.old, end, "other-name: a.c:17: audit: Assertion `x == 20' failed."));
  BOOST_TEST(!is_same_failure(c.old, end, "program: a.c:10: close: Assertion `x == 20' failed."));
  end.wait_status = 11;
  BOOST_TEST(!is_same_failure(c.old, end, c.old.last_words));
  end.outcome = wire::OutcomeKind::kDeadlock;
  BOOST_TEST(!is_same_failure(c.old, end, c.old.last_words));
}

}  // namespace
}  // namespace reweave
