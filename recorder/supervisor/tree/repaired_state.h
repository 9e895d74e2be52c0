// Repairs the runtime state after the baton holder was killed, since it may have been changing it.
#pragma once

#include "recorder/runtime_state.h"

namespace reweave {

// Makes everything again that follows from the states of single threads and processes: counts, lists and queues. Call
// it with the baton.
void repair_state(RuntimeState& state);

}  // namespace reweave
