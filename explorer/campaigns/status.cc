#include "explorer/campaigns/status.h"

#include <fmt/format.h>

#include <numeric>
#include <set>

#include "explorer/campaigns/json_fields.h"
#include "formats/base/counted.h"
#include "formats/base/json_text.h"

namespace reweave {

using nlohmann::json;

namespace {

// The distinct numbers of published units that are in the plan.
std::set<std::uint64_t> numbers_of(const CampaignFolder& campaign, Published kind) {
  std::set<std::uint64_t> numbers;
  for (const auto& entry : campaign.list(kind))
    if (entry.number < campaign.plan().all_units()) numbers.insert(entry.number);
  return numbers;
}

CampaignStatus counted(const CampaignFolder& campaign) {
  const CampaignPlan& plan = campaign.plan();
  CampaignStatus status;
  status.cases = plan.cases.size();
  status.round_units = plan.round_units();
  status.rounds.resize(plan.rounds);
  const std::set<std::uint64_t> done = numbers_of(campaign, Published::kUnits);
  for (const std::uint64_t unit : done) status.rounds[unit / status.round_units].done++;
  for (const std::uint64_t unit : numbers_of(campaign, Published::kPartial))
    if (!done.contains(unit)) status.rounds[unit / status.round_units].partial++;
  return status;
}

}  // namespace

std::uint64_t CampaignStatus::done() const {
  return std::accumulate(rounds.begin(), rounds.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Round& round) { return sum + round.done; });
}

CampaignStatus status_of(const CampaignFolder& campaign) {
  CampaignStatus status = counted(campaign);
  status.jobs = slurm_jobs(campaign.plan());
  return status;
}

std::uint64_t first_round_to_do(const CampaignFolder& campaign) {
  const CampaignStatus status = counted(campaign);
  for (std::size_t round = 0; round < status.rounds.size(); round++)
    if (status.rounds[round].done < status.round_units) return round;
  return status.rounds.size() - 1;
}

std::string status_text(const CampaignStatus& status, const std::string& folder) {
  std::string text = fmt::format("{} of {} of {} done\n", status.done(), counted(status.units(), "unit"),
                                 counted(status.cases, "recording"));
  for (std::size_t i = 0; i < status.rounds.size(); i++) {
    const CampaignStatus::Round& round = status.rounds[i];
    if (status.rounds.size() > 1) text += fmt::format("round {}: {} of {}\n", i, round.done, status.round_units);
    if (round.partial > 0) text += fmt::format("in part: {} more\n", round.partial);
  }
  if (!status.jobs)
    text += "from the folder alone: no Slurm answers here\n";
  else
    text += fmt::format("Slurm: {} tasks run, {} wait, {} restarts\n", status.jobs->running, status.jobs->pending,
                        status.jobs->requeued);
  return text + (status.done() == status.units()
                     ? fmt::format("to see what was found: reweave campaign merge {}\n", folder)
                     : "");
}

std::string status_json(const CampaignStatus& status) {
  json whole = {{"format", "reweave-campaign-status"},
                {"version", 1},
                {"recordings", status.cases},
                {"units", status.units()},
                {"done", status.done()},
                {"rounds", json::array()},
                {"slurm", json()}};
  for (const CampaignStatus::Round& round : status.rounds)
    whole["rounds"].push_back({{"units", status.round_units}, {"done", round.done}, {"partial", round.partial}});
  if (status.jobs)
    whole["slurm"] = {
        {"running", status.jobs->running}, {"pending", status.jobs->pending}, {"restarts", status.jobs->requeued}};
  return json_text(whole, 1) + "\n";
}

}  // namespace reweave
