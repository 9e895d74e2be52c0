// Creates the folder of a campaign.
#pragma once

#include <string>
#include <vector>

#include "explorer/campaigns/plan.h"

namespace reweave {

// Creates `path` with packed copies of the recordings. Files mapped by several of them are stored once if the file
// system has links. Fills in the plan's cases and id. Throws BadInput if a recording is not whole or a file that it
// mapped has changed; the folder is then not a campaign.
CampaignPlan new_campaign(const std::string& path, CampaignPlan plan, const std::vector<std::string>& recordings);

}  // namespace reweave
