// How far the units of a campaign are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explorer/campaigns/campaign_folder.h"
#include "explorer/campaigns/slurm.h"

namespace reweave {

struct CampaignStatus {
  struct Round {
    std::uint64_t done = 0, partial = 0;  // partial: of those that are not done
  };
  std::uint64_t cases = 0, round_units = 0;
  std::vector<Round> rounds;
  std::optional<SlurmJobs> jobs;  // nothing: there is no Slurm here

  std::uint64_t done() const;
  std::uint64_t units() const { return round_units * rounds.size(); }
};

// From the names in the folder alone, and from Slurm.
CampaignStatus status_of(const CampaignFolder& campaign);
std::string status_text(const CampaignStatus& status, const std::string& folder);
std::string status_json(const CampaignStatus& status);
// Of which units are missing; the last if none are.
std::uint64_t first_round_to_do(const CampaignFolder& campaign);

}  // namespace reweave
