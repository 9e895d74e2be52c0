// Makes one unit of a campaign: what `reweave explore --campaign DIR --unit K` does, on whatever machine.
#pragma once

#include <cstdint>

#include "explorer/campaigns/campaign_folder.h"
#include "explorer/knowledge.h"

namespace reweave {

// What a case's units of `round` begin with; those of the first with nothing. The first
// that asks adds up what the units of the round before have learned, and publishes it. Throws BadInput, with the status
// kExitNotExamined, if one of those is not done.
KnowledgeRecord known_before(const CampaignFolder& campaign, std::uint64_t round, std::uint64_t case_index);

// Makes the unit and publishes its result, unless it is there. Told to stop (explorer/interruption.h) it publishes what
// it has as partial. The exit status: 0 if the result is there, 128 + N if signal N came before.
int run_unit(const CampaignFolder& campaign, std::uint64_t number);

}  // namespace reweave
