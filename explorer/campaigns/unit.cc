#include "explorer/campaigns/unit.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>

#include "explorer/campaign/campaign.h"
#include "explorer/campaigns/unit_result.h"
#include "explorer/run/interruption.h"
#include "explorer/words/escaping.h"
#include "explorer/words/seconds.h"
#include "formats/base/error.h"
#include "formats/base/exit_status.h"
#include "formats/base/private_folder.h"

namespace reweave {

namespace {

using Clock = std::chrono::steady_clock;

UnitTime time_since(Clock::time_point start) {
  UnitTime time;
  time.wall = std::chrono::duration<double>(Clock::now() - start).count();
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    if (getrusage(who, &used) == 0) time.cpu += seconds_in(used.ru_utime) + seconds_in(used.ru_stime);
  }
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) == 0) time.host = host;
  return time;
}

std::uint64_t rounds_number(const CampaignPlan& plan, std::uint64_t round, std::uint64_t case_index) {
  return round * plan.cases.size() + case_index;
}

CampaignOptions options_of(const CampaignFolder& campaign, const UnitPlace& unit) {
  const CampaignPlan& plan = campaign.plan();
  CampaignOptions options;
  options.recording = campaign.recording(unit.case_index);
  options.strategy = plan.strategy;
  options.runs = plan.runs;
  options.seed = unit_seed(plan, unit);
  options.depth = plan.depth;
  options.expected = plan.expected;
  options.fork_at = plan.fork_at;
  options.races = plan.races;
  options.every_access = plan.every_access;
  options.depends_on_time = false;
  options.keeps = false;
  options.opens = unit.index == 0;  // only the first unit makes the runs that are the same for every seed
  return options;
}

UnitResult result_of(const UnitPlace& unit, const CampaignResult& campaign) {
  UnitResult result;
  result.unit = unit.number;
  result.partial = interruption() != 0;
  result.runs = campaign.progress.runs;
  result.examined = campaign.progress.examined();
  result.saw_accesses = campaign.saw_accesses;
  result.gave_up = campaign.gave_up;
  const Reasons& reasons = campaign.left_for.empty() ? campaign.not_kept_for : campaign.left_for;
  if (!reasons.empty()) result.left_for = reasons.front().first;
  result.failures = campaign.found;
  result.suspects = campaign.suspects;
  return result;
}

// Publishes, as a partial result, the reason why this machine cannot explore the recording; another machine may
// succeed.
void publish_problem(const CampaignFolder& campaign, const UnitPlace& unit, const std::string& why) {
  UnitResult result;
  result.unit = unit.number;
  result.partial = true;
  result.problem = why;
  campaign.publish(Published::kPartial, unit.number, result_json(result));
}

int publish(const CampaignFolder& campaign, const UnitPlace& unit, const CampaignResult& made,
            Clock::time_point start) {
  const UnitResult result = result_of(unit, made);
  const std::string time = time_json(time_since(start));
  if (result.partial) {
    campaign.publish(Published::kPartial, unit.number, result_json(result), time);
    fmt::print(stderr, "reweave: unit {} was told to stop after {} of {} runs; what it has is kept as partial\n",
               unit.number, result.runs, campaign.plan().runs);
    return 128 + interruption();
  }
  // Published first, because a unit counts as done once its result is there.
  if (unit.round + 1 < campaign.plan().rounds)
    campaign.publish(Published::kKnowledge, unit.number, knowledge_json(made.knowledge));
  campaign.publish(Published::kUnits, unit.number, result_json(result), time);
  return 0;
}

}  // namespace

KnowledgeRecord known_before(const CampaignFolder& campaign, std::uint64_t round, std::uint64_t case_index) {
  const CampaignPlan& plan = campaign.plan();
  if (round == 0) return {};
  const std::uint64_t number = rounds_number(plan, round, case_index);
  if (const auto known = campaign.read(Published::kRounds, number)) return parse_knowledge(known->line, known->path);
  Knowledge sum;
  sum.add(known_before(campaign, round - 1, case_index));
  const std::uint64_t in_round = plan.units / plan.rounds, first = (round - 1) * in_round;
  std::uint64_t missing = 0;
  for (std::uint64_t index = first; index < first + in_round; index++) {
    const std::uint64_t unit = unit_number(plan, case_index, index);
    const auto gained = campaign.read(Published::kKnowledge, unit);
    if (!gained || !campaign.has(Published::kUnits, unit))
      missing++;
    else if (missing == 0)
      sum.add(parse_knowledge(gained->line, gained->path));
  }
  if (missing != 0)
    throw BadInput(fmt::format("round {} of '{}' begins when round {} is done, of which {} of {} units are missing",
                               round, one_line(plan.cases[case_index].name), round - 1, missing, in_round),
                   kExitNotExamined);
  KnowledgeRecord known = sum.record();
  campaign.publish(Published::kRounds, number, knowledge_json(known));
  return known;
}

int run_unit(const CampaignFolder& campaign, std::uint64_t number) {
  const Clock::time_point start = Clock::now();
  const CampaignPlan& plan = campaign.plan();
  REQUIRE(number < plan.all_units(), "{} has the units 0 to {}", campaign.path(), plan.all_units() - 1);
  if (campaign.has(Published::kUnits, number)) return 0;
  const UnitPlace unit = place_of(plan, number);
  const KnowledgeRecord known = known_before(campaign, unit.round, unit.case_index);
  const PrivateFolder scratch;
  CampaignOptions options = options_of(campaign, unit);
  options.output = scratch.path() + "/found";
  if (unit.round > 0) options.known = &known;
  try {
    return publish(campaign, unit, run_campaign(options, [](const CampaignProgress&) { return interruption() == 0; }),
                   start);
  } catch (const BadInput& error) {
    publish_problem(campaign, unit, error.what());
    throw;
  }
}

}  // namespace reweave
