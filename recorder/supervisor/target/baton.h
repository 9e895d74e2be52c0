// The supervisor's operations on the baton (recorder/core/schedule/scheduler.h), used when a thread cannot pass it on.
#pragma once

#include "recorder/runtime_state.h"

namespace reweave {

// The value of RuntimeState::holder while the supervisor has the baton: no thread has this ID.
inline constexpr std::uint32_t kSupervisorHolds = kMaxThreads + 1;

// Takes the baton if no thread has it.
bool take_free_baton(RuntimeState& state);

// Frees the baton and makes all threads check whether they may have it.
void free_baton(RuntimeState& state);

// Takes the baton from a thread in a call for which it lends the baton (Thread::lends). False if it no longer does.
bool take_lent_baton(RuntimeState& state, Thread& holder);

}  // namespace reweave
