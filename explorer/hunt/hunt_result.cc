#include "explorer/hunt/hunt_result.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "formats/error.h"

namespace reweave {

namespace {

using nlohmann::json;

constexpr const char* kFormat = "reweave-hunt";
constexpr int kVersion = 1;

json of(const HuntFailure& failure) {
  const KeptFailure& kept = failure.kept;
  return {{"recording", kept.path},
          {"reproduced", kept.reproduced()},
          {"what", kept.what},
          {"how", kept.how},
          {"run", kept.found_at},
          {"preemptions", kept.preemptions},
          {"runs_like_this", kept.count},
          {"minimal", kept.minimal},
          {"replays", kept.replays},
          {"verified", kept.verified},
          {"last_words", kept.last_words},
          {"cause", kept.cause},
          {"story", kept.story},
          {"ending", kept.ending},
          {"stacks", kept.stacks},
          {"file", failure.file},
          {"line", failure.line},
          {"recorded", failure.recorded}};
}

HuntFailure failure_of(const json& from) {
  HuntFailure failure;
  KeptFailure& kept = failure.kept;
  from.at("recording").get_to(kept.path);
  from.at("what").get_to(kept.what);
  from.at("how").get_to(kept.how);
  from.at("run").get_to(kept.found_at);
  from.at("preemptions").get_to(kept.preemptions);
  from.at("runs_like_this").get_to(kept.count);
  from.at("minimal").get_to(kept.minimal);
  from.at("replays").get_to(kept.replays);
  from.at("verified").get_to(kept.verified);
  from.at("last_words").get_to(kept.last_words);
  from.at("cause").get_to(kept.cause);
  from.at("story").get_to(kept.story);
  from.at("ending").get_to(kept.ending);
  from.at("stacks").get_to(kept.stacks);
  from.at("file").get_to(failure.file);
  from.at("line").get_to(failure.line);
  from.at("recorded").get_to(failure.recorded);
  return failure;
}

json of(const HuntSearch& search) {
  return {{"strategy", search.strategy}, {"seed", search.seed},       {"runs", search.runs},
          {"examined", search.examined}, {"seconds", search.seconds}, {"accesses", search.saw_accesses},
          {"summary", search.summary}};
}

HuntSearch search_of(const json& from) {
  HuntSearch search;
  from.at("strategy").get_to(search.strategy);
  from.at("seed").get_to(search.seed);
  from.at("runs").get_to(search.runs);
  from.at("examined").get_to(search.examined);
  from.at("seconds").get_to(search.seconds);
  from.at("accesses").get_to(search.saw_accesses);
  from.at("summary").get_to(search.summary);
  return search;
}

json of(const TargetHunt& hunt) {
  json result = {{"name", hunt.target.name},
                 {"command", hunt.target.command},
                 {"folder", hunt.folder},
                 {"program", hunt.identity},
                 {"passing", hunt.has_passing ? json("passing") : json()},
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
  from.at("recorded").get_to(hunt.recorded);
  for (const json& search : from.at("searches")) hunt.searches.push_back(search_of(search));
  for (const json& failure : from.at("failures")) hunt.failures.push_back(failure_of(failure));
  return hunt;
}

}  // namespace

bool TargetHunt::found() const {
  return std::ranges::any_of(failures, [](const HuntFailure& failure) { return failure.kept.reproduced(); });
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
  json whole = {{"format", kFormat},
                {"version", kVersion},
                {"reweave", REWEAVE_VERSION},
                {"command", result.command},
                {"case", result.test_case},
                {"driver", result.driver},
                {"interrupted", result.interrupted},
                {"status", status},
                {"targets", json::array()}};
  for (const TargetHunt& target : result.targets) whole["targets"].push_back(of(target));
  // Arguments may be any bytes; what is not UTF-8 is replaced.
  return whole.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

HuntResult parse_hunt(const std::string& text, const std::string& path) {
  try {
    const json whole = json::parse(text);
    REQUIRE(whole.at("format") == kFormat && whole.at("version") == kVersion,
            "{} is not what this version of reweave writes", path);
    HuntResult result;
    whole.at("command").get_to(result.command);
    whole.at("case").get_to(result.test_case);
    whole.at("driver").get_to(result.driver);
    for (const json& target : whole.at("targets")) result.targets.push_back(target_of(target));
    return result;
  } catch (const json::exception& error) {
    throw BadInput(fmt::format("{} is damaged: {}", path, error.what()));
  }
}

}  // namespace reweave
