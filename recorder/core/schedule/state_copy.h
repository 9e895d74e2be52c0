// Copies of the runtime state, for processes that go on from there in an arena of their own.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Copies this run's state to `to`, whose memory is zero or a former copy of it. The tables are mostly empty: only the
// used part is copied. Left out is what only recordings and traces of other processes use.
void copy_state(RuntimeState& to);

}  // namespace reweave::core
