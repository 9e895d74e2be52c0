// Copies of the runtime state. A process that gets one continues from that state in an arena of its own.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Copies this run's state to `to`, whose memory is zero or a former copy of it. The tables are mostly empty: only the
// used part is copied. Parts that only recordings and traces of other processes use are left out.
void copy_state(RuntimeState& to);

}  // namespace reweave::core
