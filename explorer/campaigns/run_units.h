// Runs the units of a campaign on this machine, each in a process of its own.
#pragma once

#include <cstdint>
#include <string>

#include "explorer/campaigns/campaign_folder.h"
#include "formats/base/shard.h"

namespace reweave {

struct RunUnitsOptions {
  unsigned jobs = 1;  // units at a time, each on a processor of its own
  Shard shard;        // only its units
};

struct RunUnitsResult {
  std::uint64_t made = 0, there = 0;  // units made now; units that were done before
  std::uint64_t failed = 0;           // units that could not be made; each was tried twice
  std::uint64_t waiting = 0;          // units not made because units of an earlier round are missing
  int interrupted = 0;                // the signal that interrupted the units; 0 if none
};

// Runs the units round by round. A unit whose process fails or is killed is tried once more.
RunUnitsResult run_units(const CampaignFolder& campaign, const RunUnitsOptions& options);

}  // namespace reweave
