// The progress of a campaign's units.
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
    std::uint64_t done = 0, partial = 0;  // partial: units not done that have a partial result
  };
  std::uint64_t cases = 0, round_units = 0;
  std::vector<Round> rounds;
  std::optional<SlurmJobs> jobs;  // nothing: Slurm is not available

  std::uint64_t done() const;
  std::uint64_t units() const { return round_units * rounds.size(); }
};

// Determines the status from the names in the folder, without reading files, and from Slurm.
CampaignStatus status_of(const CampaignFolder& campaign);
std::string status_text(const CampaignStatus& status, const std::string& folder);
std::string status_json(const CampaignStatus& status);
// The first round with missing units; the last round if none are missing.
std::uint64_t first_round_to_do(const CampaignFolder& campaign);

}  // namespace reweave
