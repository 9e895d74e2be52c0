// The core's side of core_api.h.
#pragma once

namespace reweave::core {

// Stores the table's address where the shim finds it.
void publish_api();

}  // namespace reweave::core
