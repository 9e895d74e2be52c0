// Makes the folder of a campaign.
#pragma once

#include <string>
#include <vector>

#include "explorer/campaigns/plan.h"

namespace reweave {

// Makes `path`, with packed copies of the recordings; what several of them mapped lies there once, where the file
// system has links. `plan`: the cases and the id are filled in. Throws BadInput if a recording is not whole, or a file
// that it mapped has changed; the folder is no campaign then.
CampaignPlan new_campaign(const std::string& path, CampaignPlan plan, const std::vector<std::string>& recordings);

}  // namespace reweave
