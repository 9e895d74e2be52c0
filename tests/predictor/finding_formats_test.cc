// Findings as JSON and as SARIF 2.1.0: what the schema demands of the parts that we write.
#define BOOST_TEST_MODULE predictor_finding_formats
#include <boost/test/unit_test.hpp>

#include "predictor/report/finding_formats.h"

namespace reweave::testing {
namespace {

using nlohmann::json;

CandidateSet example() {
  CandidateSet set;
  set.trace = "t.rwt";
  set.analysis = "predict";
  set.sites = {{"/bin/bank", "ab12", 0x10, "/src/my bank.c", 7, "deposit"}, {"", "", 42, "", 0, ""}};
  Candidate candidate;
  candidate.kind = CandidateKind::kAtomicity;
  candidate.pattern = "R1-W2-W1";
  candidate.summary = "the value is lost";
  candidate.score = 9;
  candidate.assumptions = {"Assumes something."};
  candidate.remarks = {"Ranks low: a reason."};
  candidate.events = {{1, 10, EventKind::kRead, 0, 0x1000, "balance", {1}, {{"lock", 1, false}}},
                      {2, 11, EventKind::kWrite, 1, 0x1000, "balance", {}, {{"inner", 0, true}, {"outer", 1, false}}},
                      {1, 12, EventKind::kWrite, 0, 0x1000, "balance", {}, {}}};
  set.candidates = {candidate};
  return set;
}

BOOST_AUTO_TEST_CASE(json_has_everything) {
  const json found = findings_json(example()).at("findings").at(0);
  BOOST_TEST(found.at("kind") == "atomicity violation");
  BOOST_TEST(found.at("summary") == "the value is lost");
  BOOST_TEST(found.at("events").size() == 3u);
  BOOST_TEST(found.at("events").at(0).at("site").at("line") == 7);
  BOOST_TEST(found.at("events").at(0).at("stack").at(0).at("offset") == 42);
}

BOOST_AUTO_TEST_CASE(assumptions_and_limits_are_told) {
  const LeftOut left_out{.findings = 3};
  const json all = findings_json(example(), {}, left_out), found = all.at("findings").at(0);
  BOOST_TEST(found.at("assumptions").at(0) == "Assumes something.");
  BOOST_TEST(found.at("remarks").at(0) == "Ranks low: a reason.");
  BOOST_TEST(found.at("worthReading") == true);
  BOOST_TEST(all.at("leftOut").at("findings") == 3);
  const json run = findings_sarif(example(), {}, left_out).at("runs").at(0), result = run.at("results").at(0);
  BOOST_TEST(run.at("properties").at("leftOut").at("findings") == 3);
  BOOST_TEST(result.at("message").at("text") == "the value is lost Assumes something.");
  BOOST_TEST(result.at("properties").at("assumptions").size() == 1u);
}

BOOST_AUTO_TEST_CASE(held_locks_are_told) {
  const json events = findings_json(example()).at("findings").at(0).at("events");
  BOOST_TEST(events.at(0).at("held").at(0).at("object") == "lock");
  BOOST_TEST(events.at(0).at("held").at(0).at("site").at("offset") == 42);
  BOOST_TEST(events.at(1).at("held").at(0).at("shared") == true);
  BOOST_TEST(events.at(1).at("held").at(1).at("object") == "outer");
  BOOST_TEST(events.at(2).at("held").empty());
  const json result = findings_sarif(example()).at("runs").at(0).at("results").at(0);
  const json related = result.at("relatedLocations");
  BOOST_TEST(related.size() == 6u);
  BOOST_TEST(related.at(1).at("message").at("text") == "thread 2 writes balance, holding inner (shared), outer");
  BOOST_TEST(related.at(4).at("message").at("text") == "thread 2 locked inner here");
}

// Two events at one place, as in a pair of reads on one line: the standard requires different related locations.
BOOST_AUTO_TEST_CASE(related_locations_differ) {
  CandidateSet set = example();
  set.candidates[0].events[2] = set.candidates[0].events[0];
  const json related = findings_sarif(set).at("runs").at(0).at("results").at(0).at("relatedLocations");
  for (std::size_t i = 0; i < related.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) BOOST_TEST(related.at(i) != related.at(j));
  }
}

// Required properties and value ranges of the schema, object by object.
void check_location(const json& location) {
  BOOST_TEST(location.at("message").at("text").is_string());
  if (!location.contains("physicalLocation")) return;
  const std::string uri = location.at("physicalLocation").at("artifactLocation").at("uri");
  BOOST_TEST(uri.find(' ') == std::string::npos);
  if (location.at("physicalLocation").contains("region")) {
    BOOST_TEST(location.at("physicalLocation").at("region").at("startLine").get<int>() >= 1);
  }
}

BOOST_AUTO_TEST_CASE(sarif_is_as_the_schema_says) {
  const json sarif = findings_sarif(example());
  BOOST_TEST(sarif.at("version") == "2.1.0");
  const json run = sarif.at("runs").at(0);
  const json rules = run.at("tool").at("driver").at("rules");
  BOOST_TEST(run.at("tool").at("driver").at("name") == "Reweave");
  for (const json& result : run.at("results")) {
    BOOST_TEST(rules.at(result.at("ruleIndex").get<std::size_t>()).at("id") == result.at("ruleId"));
    BOOST_TEST(result.at("message").at("text").is_string());
    BOOST_TEST(result.at("rank").get<double>() <= 100.0);
    BOOST_TEST(result.at("occurrenceCount").get<int>() >= 1);
    BOOST_TEST((result.at("level") == "warning" || result.at("level") == "error"));
    for (const json& location : result.at("locations")) check_location(location);
    for (const json& location : result.at("relatedLocations")) check_location(location);
    for (const json& flow : result.at("codeFlows")) {
      BOOST_TEST(flow.at("threadFlows").size() == 2u);
      for (const json& thread : flow.at("threadFlows")) {
        for (const json& at : thread.at("locations")) check_location(at.at("location"));
      }
    }
  }
  BOOST_TEST(run.at("results").at(0).at("locations").at(0).at("physicalLocation").at("artifactLocation").at("uri") ==
             "file:///src/my%20bank.c");
}

BOOST_AUTO_TEST_CASE(no_findings_are_an_empty_list) {
  BOOST_TEST(findings_sarif({}).at("runs").at(0).at("results").is_array());
  BOOST_TEST(findings_json({}).at("findings").is_array());
}

}  // namespace
}  // namespace reweave::testing
