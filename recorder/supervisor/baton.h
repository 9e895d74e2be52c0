// The baton (recorder/core/schedule/scheduler.h) as the supervisor passes it on, for a thread that cannot.
#pragma once

#include "recorder/runtime_state.h"

namespace reweave {

// All threads look whether they may have it.
void free_baton(RuntimeState& state);

// From a thread that is in a call with it, and lends it meanwhile (Thread::lends). False: it does not, any more.
bool take_lent_baton(RuntimeState& state, Thread& holder);

}  // namespace reweave
