// Merges a campaign into a folder.
#pragma once

#include <string>

#include "explorer/campaigns/merge.h"

namespace reweave {

struct MergeOutput {
  bool json = false;    // failures.json is printed, in place of text
  bool github = false;  // the failures are also reported to GitHub Actions (explorer/words/github.h)
};

// Merges into a new folder, which replaces an older one when it is complete: `output`, or `merged` in the campaign's
// folder if `output` is empty. Prints the result. Returns the exit status.
int merge_into_folder(const CampaignFolder& campaign, const std::string& output, const MergeOptions& options,
                      const MergeOutput& told);

}  // namespace reweave
