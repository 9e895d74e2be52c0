// `explore --expect-fixed`: does a new build still have the failure of an old recording?
#pragma once

#include <functional>
#include <string>

#include "explorer/campaign/campaign.h"
#include "explorer/fixed/fix_report.h"
#include "explorer/record_passing.h"

namespace reweave {

// Tries, in the new build: the event orders of the old failure, then its schedule, then the search that `options`
// describes. options.recording must be a recording of the new build. Returns the report (fix_report.h).
nlohmann::json expect_fixed(const std::string& old_recording, CampaignOptions options, const PassingRecording& recorded,
                            const std::function<bool(const CampaignProgress&)>& on_progress);

}  // namespace reweave
