// The final output of `reweave explore`: text, or JSON (docs/explore-format.md).
#pragma once

#include <string>

#include "explorer/campaign/campaign.h"

namespace reweave {

struct ExploreReport {
  const CampaignOptions& options;
  const CampaignResult& result;
  int status;       // exit status of the command
  int interrupted;  // the signal that ended the search; 0 if none
};

// explore_text() uses colours if standard output shows them.
std::string explore_text(const ExploreReport& report);
std::string explore_json(const ExploreReport& report);

}  // namespace reweave
