// The folder that a merge leaves.
#pragma once

#include <string>

#include "explorer/campaigns/merge.h"

namespace reweave {

struct MergeOutput {
  bool json = false;    // failures.json is printed, in place of text
  bool github = false;  // and told to GitHub Actions (explorer/github.h)
};

// Merges into a new folder, `output` or, if that is empty, `merged` in the campaign's, which takes the place of an
// older one when it is whole. Prints the result. The exit status.
int merge_into_folder(const CampaignFolder& campaign, const std::string& output, const MergeOptions& options,
                      const MergeOutput& told);

}  // namespace reweave
