// Makes the units of a campaign on this machine, each in a process of its own.
#pragma once

#include <cstdint>
#include <string>

#include "explorer/campaigns/campaign_folder.h"

namespace reweave {

struct RunUnitsOptions {
  unsigned jobs = 1;                      // at a time, each on a processor of its own
  std::uint64_t part = 0, all_parts = 1;  // only units whose number is `part` modulo `all_parts`
};

struct RunUnitsResult {
  std::uint64_t made = 0, there = 0;  // units; those that were done before
  std::uint64_t failed = 0;           // that could not be made, each tried twice
  std::uint64_t waiting = 0;          // for units of the round before, which are another part's
  int interrupted = 0;                // by this signal
};

// Round by round. A unit whose process was killed is made again.
RunUnitsResult run_units(const CampaignFolder& campaign, const RunUnitsOptions& options);

}  // namespace reweave
