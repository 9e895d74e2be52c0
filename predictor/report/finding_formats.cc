#include "predictor/report/finding_formats.h"

#include <algorithm>
#include <array>
#include <map>

#include "formats/base/sarif.h"
#include "formats/base/uri.h"
#include "predictor/witness/finding.h"

namespace reweave {
namespace {

using nlohmann::json;

struct RuleRow {
  CandidateKind kind;
  const char* id;
  const char* text;
  const char* level;
};
constexpr std::array<RuleRow, kCandidateKindCount> kRules{{
    {CandidateKind::kRace, "race", "Two conflicting accesses with nothing between them", "warning"},
    {CandidateKind::kDeadlock, "deadlock", "Threads that wait for each other's locks", "error"},
    {CandidateKind::kAtomicity, "atomicity", "An access of another thread between two that belong together", "warning"},
    {CandidateKind::kOrderViolation, "order", "An access before what has to precede it", "warning"},
}};
static_assert(kRules.back().id != nullptr, "a kind of candidates has no row");

const char* operation_of(EventKind kind) {
  switch (kind) {
    case EventKind::kRead:
    case EventKind::kAtomicLoad:
      return "reads";
    case EventKind::kWrite:
    case EventKind::kAtomicStore:
      return "writes";
    case EventKind::kAtomicRmw:
      return "updates";
    case EventKind::kFree:
      return "frees";
    case EventKind::kWaitBegin:
    case EventKind::kJoin:
      return "waits for";
    case EventKind::kNotify:
      return "notifies";
    case EventKind::kEnd:
      return "ends";
    case EventKind::kLock:
      return "locks";
    case EventKind::kLockRequest:
      return "waits for";
    default:
      return "uses";
  }
}

json site_json(const CodeSite& site) {
  json result{{"offset", site.offset}};
  if (!site.module.empty()) result["module"] = site.module;
  if (!site.build_id.empty()) result["buildId"] = site.build_id;
  if (!site.file.empty()) result["file"] = site.file;
  if (site.line != 0) result["line"] = site.line;
  if (!site.function.empty()) result["function"] = site.function;
  return result;
}

json event_json(const CandidateSet& set, const CandidateEvent& event) {
  json stack = json::array();
  for (std::uint32_t site : event.stack) stack.push_back(site_json(set.sites.at(site)));
  json held = json::array();
  for (const HeldLock& lock : event.held) {
    held.push_back({{"object", lock.object}, {"shared", lock.shared}, {"site", site_json(set.sites.at(lock.site))}});
  }
  return {{"thread", event.thread},    {"event", event.index},     {"operation", operation_of(event.kind)},
          {"object", event.object},    {"address", event.address}, {"site", site_json(set.sites.at(event.site))},
          {"stack", std::move(stack)}, {"held", std::move(held)}};
}

std::string place_text(const CodeSite& site) {
  if (!site.function.empty()) return site.function;
  return (site.module.empty() ? "location " : site.module + "+") + std::to_string(site.offset);
}

json location_of(const CandidateSet& set, std::uint32_t number, const std::string& message) {
  const CodeSite& site = set.sites.at(number);
  json result{{"message", {{"text", message}}},
              {"logicalLocations", json::array({{{"fullyQualifiedName", place_text(site)}}})}};
  if (!site.file.empty()) {
    result["physicalLocation"] = {{"artifactLocation", {{"uri", uri_of(site.file)}}},
                                  {"region", {{"startLine", std::max(site.line, 1u)}}}};
  } else if (!site.module.empty()) {
    result["physicalLocation"] = {{"artifactLocation", {{"uri", uri_of(site.module)}}}};
  }
  return result;
}

std::string event_text(const CandidateEvent& event) {
  std::string text = "thread " + std::to_string(event.thread) + " " + operation_of(event.kind) + " " + event.object;
  for (const HeldLock& lock : event.held) {
    text += (&lock == &event.held.front() ? ", holding " : ", ") + lock.object + (lock.shared ? " (shared)" : "");
  }
  return text;
}

// The places of the bug, and the places where the locks held there were taken. Numbered, because SARIF allows no two
// equal ones.
json related_to(const CandidateSet& set, const Candidate& candidate) {
  json related = json::array();
  const auto add = [&](std::uint32_t site, const std::string& text) {
    related.push_back(location_of(set, site, text));
    related.back()["id"] = related.size();
  };
  for (const CandidateEvent& event : candidate.events) add(event.site, event_text(event));
  for (const CandidateEvent& event : candidate.events) {
    for (const HeldLock& lock : event.held) {
      add(lock.site, "thread " + std::to_string(event.thread) + " locked " + lock.object + " here");
    }
  }
  return related;
}

// The events of the bug in order, one flow per thread.
json flows_of(const CandidateSet& set, const Candidate& candidate) {
  std::map<ThreadId, json> flows;
  int order = 0;
  for (const CandidateEvent& event : candidate.events) {
    json& flow = flows[event.thread];
    if (flow.is_null()) flow = {{"id", "thread " + std::to_string(event.thread)}, {"locations", json::array()}};
    json at{{"location", location_of(set, event.site, event_text(event))}, {"executionOrder", ++order}};
    json frames = json::array();
    frames.push_back({{"location", location_of(set, event.site, event_text(event))}});
    for (std::uint32_t site : event.stack) frames.push_back({{"location", location_of(set, site, "called here")}});
    at["stack"] = {{"frames", std::move(frames)}};
    flow["locations"].push_back(std::move(at));
  }
  json list = json::array();
  for (auto& [thread, flow] : flows) list.push_back(std::move(flow));
  return json::array({{{"threadFlows", std::move(list)}}});
}

// The summary and its assumptions.
std::string message_of(const Candidate& candidate) {
  std::string text = candidate.summary;
  for (const std::string& assumption : candidate.assumptions) text += " " + assumption;
  return text;
}

json left_out_json(const LeftOut& left_out) {
  return {{"findings", left_out.findings},
          {"instances", left_out.instances},
          {"accesses", left_out.accesses},
          {"pairs", left_out.pairs},
          {"equalValues", left_out.equal_values}};
}

json result_of(const CandidateSet& set, const Candidate& candidate) {
  const auto row =
      std::find_if(kRules.begin(), kRules.end(), [&](const RuleRow& r) { return r.kind == candidate.kind; });
  std::string fingerprint = row->id + (" " + candidate.pattern);
  for (const CandidateEvent& event : candidate.events) {
    fingerprint += " " + place_text(set.sites.at(event.site)) + ":" + std::to_string(set.sites.at(event.site).line);
  }
  const CandidateEvent& first = candidate.events.at(0);
  return {{"ruleId", row->id},
          {"ruleIndex", row - kRules.begin()},
          {"level", row->level},
          {"rank", std::clamp(candidate.score * 25, 0.0, 100.0)},
          {"message", {{"text", message_of(candidate)}}},
          {"locations", json::array({location_of(set, first.site, event_text(first))})},
          {"relatedLocations", related_to(set, candidate)},
          {"codeFlows", flows_of(set, candidate)},
          {"occurrenceCount", candidate.count},
          {"partialFingerprints", {{"reweave/v1", fingerprint}}},
          {"properties",
           {{"pattern", candidate.pattern},
            {"score", candidate.score},
            {"assumptions", candidate.assumptions},
            {"remarks", candidate.remarks},
            {"worthReading", worth_reading(candidate.score)}}}};
}

json reads_json(const ReadCounts& reads) {
  return {{"events", reads.events},
          {"eventsThatDecideNothing", reads.free_events},
          {"places", reads.places},
          {"placesThatDecideNothing", reads.free_places}};
}

// Reports that the results do not cover the whole trace.
json failed_invocation(const std::string& damage) {
  return {{"executionSuccessful", false},
          {"toolExecutionNotifications", json::array({{{"level", "error"}, {"message", {{"text", damage}}}}})}};
}

}  // namespace

json findings_json(const CandidateSet& set, const std::string& damage, const LeftOut& left_out,
                   const ReadCounts& reads) {
  json findings = json::array();
  for (const Candidate& candidate : set.candidates) {
    json events = json::array();
    for (const CandidateEvent& event : candidate.events) events.push_back(event_json(set, event));
    findings.push_back({{"kind", name_of(candidate.kind)},
                        {"pattern", candidate.pattern},
                        {"score", candidate.score},
                        {"count", candidate.count},
                        {"summary", candidate.summary},
                        {"assumptions", candidate.assumptions},
                        {"remarks", candidate.remarks},
                        {"worthReading", worth_reading(candidate.score)},
                        {"events", std::move(events)}});
  }
  json result = {{"trace", set.trace},
                 {"analysis", set.analysis},
                 {"complete", damage.empty()},
                 {"findings", std::move(findings)},
                 {"leftOut", left_out_json(left_out)},
                 {"reads", reads_json(reads)}};
  if (!damage.empty()) result["damage"] = damage;
  return result;
}

json findings_sarif(const CandidateSet& set, const std::string& damage, const LeftOut& left_out,
                    const ReadCounts& reads) {
  json rules = json::array(), results = json::array();
  for (const RuleRow& row : kRules) rules.push_back({{"id", row.id}, {"shortDescription", {{"text", row.text}}}});
  for (const Candidate& candidate : set.candidates) results.push_back(result_of(set, candidate));
  json log = sarif_log(rules, results);
  json& run = log["runs"][0];
  run["properties"] = {{"leftOut", left_out_json(left_out)}, {"reads", reads_json(reads)}};
  if (!damage.empty()) run["invocations"] = json::array({failed_invocation(damage)});
  return log;
}

}  // namespace reweave
