// Describes a campaign and its results for people, in the same words for `explore` and `hunt`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "explorer/campaign/campaign.h"

namespace reweave {

// The share of examined runs that failed: "0 of 2000 runs fail (at most 0.15 % of such runs, 95 %)", "60 of 2000 runs
// fail (3 %)". The bound, at 95 % confidence, is left out if the search does not draw its runs at random.
std::string share_text(const CampaignProgress& progress, const std::string& strategy);
// The number of failures that replay.
std::size_t reproduced_failures(const CampaignResult& result);
// A line about a run of CampaignResult::suspected.
std::string suspected_text(const KeptFailure& run);
// Lines about what was searched and what was not. `limit`: the name of the option that limited the time.
std::vector<std::string> summary_of(const CampaignResult& result, const CampaignOptions& options,
                                    std::string_view limit);
// Everything known about a failure except its outcome, as indented lines with line breaks. `limits`: the options that
// limit minimisation.
std::string details_of(const KeptFailure& failure, std::string_view limits = "--minimise, --seconds");

}  // namespace reweave
