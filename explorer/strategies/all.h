// The list of policies: --strategy, its help and the contract test loop over it.
#pragma once

#include "recorder/policy.h"

namespace reweave {

std::uint32_t policy_count();
const Policy& policy_at(std::uint32_t index);  // index < policy_count()

}  // namespace reweave
