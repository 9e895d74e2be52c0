#include "explorer/campaigns/unit_result.h"

#include <cstring>

#include "explorer/campaigns/json_fields.h"
#include "explorer/words/escaping.h"
#include "formats/base/json_text.h"
#include "formats/recording/manifest.h"

namespace reweave {

using nlohmann::json;

namespace {

constexpr std::size_t kMostFailures = 10'000, kMostSwitches = 1'000'000, kMostRaces = 10'000;

json switches_json(const std::vector<ScheduleStep>& steps) {
  json list = json::array();
  for (const ScheduleStep& step : steps) {
    list.push_back(step.tick);
    list.push_back(step.thread);
    list.push_back(step.to);
  }
  return list;
}

std::vector<ScheduleStep> switches_from(const json& list, std::uint16_t free, const std::string& path) {
  REQUIRE(list.size() % 3 == 0, "{} is damaged: a switch is incomplete", path);
  std::vector<ScheduleStep> steps;
  const auto number = [&](std::size_t at, std::uint64_t most) {
    return JsonFields::number_of(list[at], path, "switch", most);
  };
  for (std::size_t at = 0; at < list.size(); at += 3)
    steps.push_back({static_cast<std::uint32_t>(number(at, UINT32_MAX)),
                     static_cast<ThreadId>(number(at + 1, kMaxThreads - 1)),
                     static_cast<ThreadId>(number(at + 2, kMaxThreads - 1)), free, 0});
  return steps;
}

wire::OutcomeKind outcome_named(const std::string& name, const std::string& path) {
  for (int kind = 0; std::strcmp(name_of(static_cast<wire::OutcomeKind>(kind)), "unknown") != 0; kind++)
    if (name == name_of(static_cast<wire::OutcomeKind>(kind))) return static_cast<wire::OutcomeKind>(kind);
  throw BadInput(fmt::format("{} is damaged: unknown outcome '{}'", path, one_line(name)));
}

json found_failure_json(const FoundFailure& failure) {
  return {{"outcome", name_of(failure.end.outcome)},
          {"wait_status", static_cast<std::uint32_t>(failure.end.wait_status)},
          {"text", failure.end.text},
          {"races", failure.end.races},
          {"site", failure.site},
          {"how", failure.how},
          {"run", failure.number},
          {"count", failure.count},
          {"preemptions", switches_json(failure.switches.preemptions)},
          {"free", switches_json(failure.switches.free)},
          {"inputs", failure.switches.inputs}};
}

FoundFailure found_run(const json& from, const std::string& path) {
  const JsonFields fields(from, path);
  FoundFailure failure;
  failure.end.outcome = outcome_named(fields.text("outcome"), path);
  failure.end.wait_status = static_cast<int>(fields.number("wait_status", UINT32_MAX));
  failure.end.text = fields.text("text");
  for (const json& race : fields.list("races", kMostRaces)) {
    REQUIRE(race.is_string(), "{} is damaged: a race is not a text", path);
    failure.end.races.push_back(race.get<std::string>());
  }
  failure.site = fields.number("site");
  failure.how = fields.text("how", 4096);
  failure.number = fields.number("run");
  failure.count = fields.number("count");
  failure.switches.preemptions = switches_from(fields.list("preemptions", 3 * kMostSwitches), 0, path);
  failure.switches.inputs = fields.number("inputs");
  failure.switches.free = switches_from(fields.list("free", 3 * kMostSwitches), 1, path);
  return failure;
}

}  // namespace

std::string result_json(const UnitResult& result) {
  json whole = {{"unit", result.unit},         {"partial", result.partial},           {"runs", result.runs},
                {"examined", result.examined}, {"saw_accesses", result.saw_accesses}, {"gave_up", result.gave_up},
                {"problem", result.problem},   {"left_for", result.left_for},         {"failures", json::array()},
                {"suspects", json::array()}};
  for (const FoundFailure& failure : result.failures) whole["failures"].push_back(found_failure_json(failure));
  for (const FoundFailure& suspect : result.suspects) whole["suspects"].push_back(found_failure_json(suspect));
  return json_text(whole, -1);
}

UnitResult parse_result(const std::string& text, const std::string& path) {
  const json whole = parse_json(text, path);
  const JsonFields fields(whole, path);
  UnitResult result;
  result.unit = fields.number("unit");
  result.partial = fields.flag("partial");
  result.runs = fields.number("runs", UINT64_MAX / 2);
  result.examined = fields.number("examined", result.runs);
  result.saw_accesses = fields.flag("saw_accesses");
  result.gave_up = fields.flag("gave_up");
  result.problem = fields.text("problem");
  result.left_for = fields.text("left_for");
  for (const json& from : fields.list("failures", kMostFailures)) {
    const FoundFailure& failure = result.failures.emplace_back(found_run(from, path));
    REQUIRE(failure.end.failed(), "{} is damaged: an entry of 'failures' has an outcome that is no failure", path);
  }
  if (!whole.contains("suspects")) return result;  // an older unit
  for (const json& from : fields.list("suspects", kMostFailures)) {
    const FoundFailure& suspect = result.suspects.emplace_back(found_run(from, path));
    REQUIRE(suspect.end.outcome == wire::OutcomeKind::kLeftRecording,
            "{} is damaged: an entry of 'suspects' has another outcome", path);
  }
  return result;
}

std::string time_json(const UnitTime& time) {
  return json_text({{"wall_seconds", time.wall}, {"cpu_seconds", time.cpu}, {"host", time.host}}, -1);
}

UnitTime parse_time(const std::string& text, const std::string& path) {
  const json whole = parse_json(text, path);
  const JsonFields fields(whole, path);
  const auto seconds = [&](const char* name) {
    REQUIRE(fields.at(name).is_number() && fields.at(name).get<double>() >= 0, "{} is damaged: '{}' is not a time",
            path, name);
    return fields.at(name).get<double>();
  };
  return {seconds("wall_seconds"), seconds("cpu_seconds"), fields.text("host", 256)};
}

}  // namespace reweave
