// A kept failure as JSON: `explore`, `hunt` and `campaign merge` write it with the same members (docs/hunt-format.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "explorer/campaign/campaign.h"

namespace reweave {

nlohmann::json failure_json(const KeptFailure& failure);
// The reverse. Throws nlohmann::json::exception if a member is missing or has another type.
KeptFailure failure_from_json(const nlohmann::json& from);

}  // namespace reweave
