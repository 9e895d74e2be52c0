// Runs one unit of a campaign on any machine, for `reweave explore --campaign DIR --unit K`.
#pragma once

#include <cstdint>

#include "explorer/campaign/knowledge.h"
#include "explorer/campaigns/campaign_folder.h"

namespace reweave {

// The knowledge with which a case's units of `round` begin; empty in round 0. The first caller combines the knowledge
// of the earlier rounds' units and publishes it. Throws BadInput with the status kExitNotExamined if a unit of the
// round before is not done.
KnowledgeRecord known_before(const CampaignFolder& campaign, std::uint64_t round, std::uint64_t case_index);

// Runs the unit and publishes its result, unless it is already published. If interrupted (explorer/run/interruption.h),
// publishes a partial result. Returns the exit status: 0 if the result is published, 128 + N after signal N.
int run_unit(const CampaignFolder& campaign, std::uint64_t number);

}  // namespace reweave
