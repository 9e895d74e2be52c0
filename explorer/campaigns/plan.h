// The plan of a campaign of many units: campaign.json in its folder (docs/campaigns.md).
//
// A unit is one search, from one recording. The units of a round start with the knowledge that the units of earlier
// rounds gained. So a unit's result depends only on the plan, its recording and the results of earlier rounds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reweave {

struct CampaignCase {
  std::string name;       // for people, distinct
  std::string recording;  // absolute path of the original recording
};

struct CampaignPlan {
  std::string id;  // 16 hex digits; names the campaign's jobs
  std::vector<CampaignCase> cases;
  std::uint64_t units = 8;  // of each case; a multiple of rounds
  std::uint64_t rounds = 1;
  std::uint64_t runs = 1000;  // of each unit
  std::uint64_t seed = 1;
  std::uint64_t depth = 3;
  std::string strategy = "auto";
  std::string expected;  // endings that are normal (ExpectedEndings::parse); empty: each recording's own
  std::string fork_at;
  bool races = false, every_access = false;

  std::uint64_t all_units() const { return units * cases.size(); }
  std::uint64_t round_units() const { return all_units() / rounds; }
};

// Greatest numbers that a plan may have.
inline constexpr std::uint64_t kMostUnits = 1'000'000, kMostCases = 100'000, kMostRounds = 64;

// The place of unit `number`. The units of a round have consecutive numbers, which go to the cases in turn.
struct UnitPlace {
  std::uint64_t number;
  std::uint64_t round;
  std::uint64_t case_index;
  std::uint64_t index;  // among the units of the case
};
UnitPlace place_of(const CampaignPlan& plan, std::uint64_t number);
// The number of unit `index` of a case.
std::uint64_t unit_number(const CampaignPlan& plan, std::uint64_t case_index, std::uint64_t index);
// The seed of a unit's search: different for all units of a case.
std::uint64_t unit_seed(const CampaignPlan& plan, const UnitPlace& unit);

std::string plan_json(const CampaignPlan& plan);
// Throws BadInput if the text is not a plan; `path` is for the message.
CampaignPlan parse_plan(const std::string& text, const std::string& path);
// Throws BadInput if the plan is impossible.
void check_plan(const CampaignPlan& plan);

}  // namespace reweave
