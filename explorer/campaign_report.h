// What a campaign did and found, for people: the verbs `explore` and `hunt` say it in the same words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "explorer/campaign.h"

namespace reweave {

// Failures that replay.
// "0 of 2000 runs fail (at most 0.15 % of such runs, 95 %)", "60 of 2000 runs fail (3 %)". A search that does not draw
// its runs has no bound.
std::string share_text(const CampaignProgress& progress, const std::string& strategy);
std::size_t reproduced_failures(const CampaignResult& result);
// What was searched, and what was not, a line each. `limit`: what limited the time.
std::vector<std::string> summary_of(const CampaignResult& result, const CampaignOptions& options,
                                    std::string_view limit);
// What is known of a failure besides how it ended: indented lines, each with its end. `limits`: the options that limit
// what is spent on making its schedule minimal.
std::string details_of(const KeptFailure& failure, std::string_view limits = "--minimise, --seconds");

}  // namespace reweave
