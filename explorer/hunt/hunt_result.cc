#include "explorer/hunt/hunt_result.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "explorer/campaign/failure_json.h"
#include "formats/base/error.h"
#include "formats/base/json_text.h"

namespace reweave {

namespace {

using nlohmann::json;

constexpr const char* kResultFormat = "reweave-hunt";
constexpr int kResultVersion = 1;

json of(const HuntFailure& failure) {
  json result = failure_json(failure.kept);
  result.update(
      {{"file", failure.file}, {"line", failure.line}, {"recorded", failure.recorded}, {"found_as", failure.found_as}});
  result["flows"] = failure.flows.empty() ? json::array() : json::parse(failure.flows);
  return result;
}

HuntFailure failure_of(const json& from) {
  HuntFailure failure;
  failure.kept = failure_from_json(from);
  from.at("file").get_to(failure.file);
  from.at("line").get_to(failure.line);
  from.at("recorded").get_to(failure.recorded);
  failure.found_as = from.value("found_as", failure.kept.what);  // older hunts do not have it
  if (const json flows = from.value("flows", json::array()); !flows.empty()) failure.flows = json_text(flows, -1);
  return failure;
}

json of(const HuntSearch& search) {
  return {{"strategy", search.strategy},         {"seed", search.seed},           {"runs", search.runs},
          {"examined", search.examined},         {"seconds", search.seconds},     {"accesses", search.saw_accesses},
          {"one_schedule", search.one_schedule}, {"suspected", search.suspected}, {"summary", search.summary}};
}

HuntSearch search_of(const json& from) {
  HuntSearch search;
  from.at("strategy").get_to(search.strategy);
  from.at("seed").get_to(search.seed);
  from.at("runs").get_to(search.runs);
  from.at("examined").get_to(search.examined);
  from.at("seconds").get_to(search.seconds);
  from.at("accesses").get_to(search.saw_accesses);
  search.one_schedule = from.value("one_schedule", false);       // older hunts do not have it
  search.suspected = from.value("suspected", search.suspected);  // likewise
  from.at("summary").get_to(search.summary);
  return search;
}

json of(const TargetHunt& hunt) {
  json result = {{"name", hunt.target.name},
                 {"command", hunt.target.command},
                 {"folder", hunt.folder},
                 {"program", hunt.identity},
                 {"passing", hunt.has_passing ? json("passing") : json()},
                 {"inputs", hunt.inputs},
                 {"unchanged_since", hunt.unchanged_since.empty() ? json() : json(hunt.unchanged_since)},
                 {"earlier_runs", hunt.earlier_runs},
                 {"recorded", hunt.recorded},
                 {"searches", json::array()},
                 {"failures", json::array()},
                 {"problem", hunt.problem.empty() ? json() : json(hunt.problem)},
                 {"problem_status", hunt.problem_status}};
  for (const HuntSearch& search : hunt.searches) result["searches"].push_back(of(search));
  for (const HuntFailure& failure : hunt.failures) result["failures"].push_back(of(failure));
  return result;
}

TargetHunt target_of(const json& from) {
  TargetHunt hunt;
  from.at("name").get_to(hunt.target.name);
  from.at("command").get_to(hunt.target.command);
  from.at("folder").get_to(hunt.folder);
  from.at("program").get_to(hunt.identity);
  hunt.has_passing = !from.at("passing").is_null();
  hunt.inputs = from.value("inputs", "");  // older hunts do not have these three
  if (const json since = from.value("unchanged_since", json()); !since.is_null()) since.get_to(hunt.unchanged_since);
  hunt.earlier_runs = from.value("earlier_runs", std::uint64_t{0});
  if (const json problem = from.at("problem"); !problem.is_null()) problem.get_to(hunt.problem);
  from.at("problem_status").get_to(hunt.problem_status);
  from.at("recorded").get_to(hunt.recorded);
  for (const json& search : from.at("searches")) hunt.searches.push_back(search_of(search));
  for (const json& failure : from.at("failures")) hunt.failures.push_back(failure_of(failure));
  return hunt;
}

}  // namespace

bool TargetHunt::found() const {
  return std::ranges::any_of(failures, [](const HuntFailure& failure) { return failure.kept.reproduced(); });
}

bool TargetHunt::suspects() const {
  return std::ranges::any_of(searches, [](const HuntSearch& search) { return !search.suspected.empty(); });
}

bool TargetHunt::is_clean() const {
  return failures.empty() && problem.empty() && !suspects() && (examined() > 0 || !unchanged_since.empty());
}

std::uint64_t TargetHunt::runs() const {
  return std::accumulate(searches.begin(), searches.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const HuntSearch& search) { return sum + search.runs; });
}

std::uint64_t TargetHunt::examined() const {
  return std::accumulate(searches.begin(), searches.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const HuntSearch& search) { return sum + search.examined; });
}

bool HuntResult::found() const { return std::ranges::any_of(targets, &TargetHunt::found); }

std::string hunt_json(const HuntResult& result, int status) {
  json whole = {{"format", kResultFormat},   {"version", kResultVersion},         {"reweave", REWEAVE_VERSION},
                {"command", result.command}, {"case", result.test_case},          {"driver", result.driver},
                {"shard", result.shard},     {"interrupted", result.interrupted}, {"status", status},
                {"targets", json::array()}};
  for (const TargetHunt& target : result.targets) whole["targets"].push_back(of(target));
  // Arguments may contain any bytes; those that are not UTF-8 are replaced.
  return json_text(whole) + "\n";
}

HuntResult parse_hunt(const std::string& text, const std::string& path) {
  try {
    const json whole = json::parse(text);
    REQUIRE(whole.at("format") == kResultFormat && whole.at("version") == kResultVersion,
            "{} is not what this version of reweave writes", path);
    HuntResult result;
    whole.at("command").get_to(result.command);
    whole.at("case").get_to(result.test_case);
    whole.at("driver").get_to(result.driver);
    result.shard = whole.value("shard", "");  // older hunts do not have it
    for (const json& target : whole.at("targets")) result.targets.push_back(target_of(target));
    return result;
  } catch (const json::exception& error) {
    throw BadInput(fmt::format("{} is damaged: {}", path, error.what()));
  }
}

}  // namespace reweave
