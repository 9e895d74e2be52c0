#include "explorer/campaigns/plan.h"

#include <algorithm>
#include <set>

#include "explorer/campaigns/json_fields.h"
#include "explorer/run/expected_endings.h"
#include "explorer/searches/search.h"
#include "explorer/words/escaping.h"
#include "formats/base/json_text.h"

namespace reweave {

using nlohmann::json;

namespace {

constexpr const char* kPlanFormat = "reweave-campaign";
constexpr std::uint64_t kPlanVersion = 1;

}  // namespace

UnitPlace place_of(const CampaignPlan& plan, std::uint64_t number) {
  const std::uint64_t cases = plan.cases.size(), in_round = plan.units / plan.rounds;
  UnitPlace place = {number, number / plan.round_units(), 0, 0};
  const std::uint64_t rest = number % plan.round_units();
  place.case_index = rest % cases;
  place.index = place.round * in_round + rest / cases;
  return place;
}

std::uint64_t unit_number(const CampaignPlan& plan, std::uint64_t case_index, std::uint64_t index) {
  const std::uint64_t cases = plan.cases.size(), in_round = plan.units / plan.rounds;
  return index / in_round * plan.round_units() + index % in_round * cases + case_index;
}

std::uint64_t unit_seed(const CampaignPlan& plan, const UnitPlace& unit) { return seed_of_run(plan.seed, unit.index); }

void check_plan(const CampaignPlan& plan) {
  const SearchRow* search = find_search(plan.strategy);
  REQUIRE(search != nullptr, "unknown strategy {}; `reweave explore --strategy=help` lists them", plan.strategy);
  REQUIRE(search->draws || plan.units == 1,
          "the strategy {} makes the same runs with every seed, so all units would be the same: give --units 1",
          plan.strategy);
  REQUIRE(!plan.cases.empty(), "give a recording");
  REQUIRE(plan.cases.size() <= kMostCases, "a campaign has at most {} recordings", kMostCases);
  REQUIRE(plan.rounds > 0 && plan.rounds <= kMostRounds, "a campaign has 1 to {} rounds", kMostRounds);
  REQUIRE(plan.units > 0 && plan.units % plan.rounds == 0,
          "the number of units of a recording ({}) must be a multiple of the rounds ({})", plan.units, plan.rounds);
  REQUIRE(plan.units <= kMostUnits && plan.all_units() <= kMostUnits, "a campaign has at most {} units", kMostUnits);
  if (!plan.expected.empty()) ExpectedEndings::parse(plan.expected);
}

std::string plan_json(const CampaignPlan& plan) {
  json whole = {{"format", kPlanFormat},      {"version", kPlanVersion},
                {"reweave", REWEAVE_VERSION}, {"id", plan.id},
                {"units", plan.units},        {"rounds", plan.rounds},
                {"runs", plan.runs},          {"seed", plan.seed},
                {"depth", plan.depth},        {"strategy", plan.strategy},
                {"expected", plan.expected},  {"fork_at", plan.fork_at},
                {"races", plan.races},        {"every_access", plan.every_access},
                {"cases", json::array()}};
  for (const CampaignCase& one : plan.cases)
    whole["cases"].push_back({{"name", one.name}, {"recording", one.recording}});
  return json_text(whole, 1) + "\n";
}

CampaignPlan parse_plan(const std::string& text, const std::string& path) {
  const json whole = parse_json(text, path);
  const JsonFields fields(whole, path);
  REQUIRE(fields.text("format") == kPlanFormat && fields.number("version") == kPlanVersion,
          "{} is not what this version of reweave writes", path);
  CampaignPlan plan;
  plan.id = fields.text("id");
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  REQUIRE(plan.id.size() == 16 && std::ranges::all_of(plan.id, is_hex), "{} is damaged: 'id' is not an id", path);
  plan.units = fields.number("units");
  plan.rounds = fields.number("rounds");
  plan.runs = fields.number("runs");
  plan.seed = fields.number("seed");
  plan.depth = fields.number("depth", 1000);
  plan.strategy = fields.text("strategy");
  plan.expected = fields.text("expected");
  plan.fork_at = fields.text("fork_at");
  plan.races = fields.flag("races");
  plan.every_access = fields.flag("every_access");
  std::set<std::string> names;
  for (const json& one : fields.list("cases", kMostCases)) {
    const JsonFields in(one, path);
    plan.cases.push_back({in.text("name", 4096), in.text("recording", 4096)});
    REQUIRE(names.insert(plan.cases.back().name).second, "{} is damaged: two cases have one name", path);
  }
  try {
    check_plan(plan);
  } catch (const BadInput& error) {
    throw BadInput(fmt::format("{} is damaged: {}", path, one_line(error.what())));
  }
  return plan;
}

}  // namespace reweave
