#include "explorer/explain/report_ci.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "explorer/explain/html/markup.h"
#include "explorer/explain/remedies/remedy_words.h"
#include "explorer/explain/report_sentences.h"
#include "explorer/explain/report_steps.h"
#include "formats/base/sarif.h"
#include "formats/base/uri.h"
#include "formats/elf/source_lines.h"

namespace reweave {

using nlohmann::json;

namespace {

struct RuleRow {
  const char* id;
  const char* text;
};
enum Rule { kDeadlock, kAtomicity, kOrder, kOrders };
constexpr RuleRow kRules[] = {{"deadlock", "Threads that wait for each other's locks"},
                              {"atomicity", "An access of another thread between two that belong together"},
                              {"order", "An access before what has to precede it"},
                              {"orders", "Several orders that fail only together"}};

Rule rule_of(const json& report) {
  if (!report.at("deadlock").empty()) return kDeadlock;
  if (!orders_together(report).empty()) return kOrders;
  return report.at("flips").at(0).contains("block") ? kAtomicity : kOrder;
}

json location_of(const json& step) {
  const std::string place = step.at("place").get<std::string>(), file = step.value("file", "");
  json location{{"message", {{"text", step_sentence(step)}}},
                {"logicalLocations", json::array({{{"fullyQualifiedName", step.value("function", place)}}})}};
  if (!file.empty())
    location["physicalLocation"] = {{"artifactLocation", {{"uri", uri_of(file)}}},
                                    {"region", {{"startLine", std::max(step.value("line", 1), 1)}}}};
  return location;
}

json flows_of(std::vector<json> steps) {
  std::ranges::stable_sort(steps, {}, [](const json& step) { return step.at("choice").get<std::uint64_t>(); });
  std::map<std::uint64_t, json> flows;
  int order = 0;
  for (const json& step : steps) {
    const auto thread = step.at("thread").get<std::uint64_t>();
    json& flow = flows[thread];
    if (flow.is_null()) flow = {{"id", fmt::format("thread {}", thread)}, {"locations", json::array()}};
    flow["locations"].push_back({{"location", location_of(step)}, {"executionOrder", ++order}});
  }
  json list = json::array();
  for (auto& [thread, flow] : flows) list.push_back(std::move(flow));
  return json::array({{{"threadFlows", std::move(list)}}});
}

json result_of(const json& report) {
  const std::vector<json> steps = steps_of_cause(report);
  const Rule rule = rule_of(report);
  std::string fingerprint = kRules[rule].id;
  json related = json::array();
  for (const json& step : steps) {
    fingerprint += " " + step.at("place").get<std::string>();
    related.push_back(location_of(step));
    related.back()["id"] = related.size();
  }
  // GitHub accepts only results that have a location.
  const json main = main_step_of_cause(report);
  const json& shown = main.is_null() ? steps.front() : main;
  return {{"ruleId", kRules[rule].id},
          {"ruleIndex", static_cast<int>(rule)},
          {"level", "error"},
          {"message",
           {{"text", first_line(report.at("failure").get<std::string>()) + ", because " +
                         report.at("cause").get<std::string>()}}},
          {"locations", json::array({location_of(shown)})},
          {"relatedLocations", std::move(related)},
          {"codeFlows", flows_of(steps)},
          {"partialFingerprints", {{"reweave-explanation/v1", fingerprint}}},
          {"properties", {{"runs", report.at("runs")}, {"base", report.at("base")}}}};
}

bool has_cause(const json& report) { return !steps_of_cause(report).empty(); }

}  // namespace

json sarif_report(const json& report) {
  json rules = json::array(), results = json::array(), notes = json::array();
  for (const RuleRow& row : kRules) rules.push_back({{"id", row.id}, {"shortDescription", {{"text", row.text}}}});
  if (has_cause(report))
    results.push_back(result_of(report));
  else
    notes.push_back({{"level", "warning"}, {"message", {{"text", "no order of events was found that matters"}}}});
  for (const json& note : report.at("notes"))
    notes.push_back({{"level", "note"}, {"message", {{"text", "not examined: " + note.get<std::string>()}}}});
  json log = sarif_log(rules, results);
  if (!notes.empty())
    log["runs"][0]["invocations"] =
        json::array({{{"executionSuccessful", true}, {"toolExecutionNotifications", notes}}});
  return log;
}

json code_flows(const json& report, const std::function<std::string(const std::string&)>& shown) {
  std::vector<json> steps = steps_of_cause(report);
  if (steps.empty()) return json::array();
  for (json& step : steps)
    if (step.contains("file")) step["file"] = shown(step.at("file").get<std::string>());
  return flows_of(std::move(steps));
}

std::string junit_report(const json& report, const std::string& recording) {
  const std::string outcome = report.at("failure"), words = report.at("last_words"), cause = report.at("cause");
  std::string said = outcome + "\n" + words + (words.empty() ? "" : "\n") + "\n" + cause + "\n";
  for (const json& step : steps_of_cause(report))
    said += fmt::format("{}: {}\n", step_sentence(step), step.value("source", ""));
  for (const json& remedy : report.at("remedies"))
    said += fmt::format("\nTried as a remedy: {}: {} random schedules fail{}.\n", remedy.at("text").get<std::string>(),
                        share_sentence(remedy.at("rate")), near_words(remedy));
  constexpr std::size_t kMostBytes = 100'000;
  const Html failure = element("failure",
                               {{"type", visible(first_line(outcome))},
                                {"message", visible(cause.empty() ? first_line(outcome) : first_line(cause))}},
                               {visible(said, kMostBytes)});
  const Html test = element("testcase", {{"classname", "reweave.explain"}, {"name", visible(recording)}}, {failure});
  const Html suite = element(
      "testsuite", {{"name", "reweave explain"}, {"tests", "1"}, {"failures", "1"}, {"errors", "0"}, {"skipped", "0"}},
      {test});
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + element("testsuites", {}, {suite}).markup() + "\n";
}

}  // namespace reweave
