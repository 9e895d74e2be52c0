// Operations of the supervisor on the baton (recorder/core/schedule/scheduler.h), for a thread that cannot pass it on.
#pragma once

#include "recorder/runtime_state.h"

namespace reweave {

// Frees the baton and makes all threads check whether they may have it.
void free_baton(RuntimeState& state);

// Takes the baton from a thread in a call for which it lends the baton (Thread::lends). False: it no longer lends it.
bool take_lent_baton(RuntimeState& state, Thread& holder);

}  // namespace reweave
