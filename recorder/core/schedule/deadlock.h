// Detects deadlocks in which every thread waits for another one. In recordings the supervisor looks for all others
// (supervisor/tree/deadlock_watch.h).
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Called when no thread can run, before the baton is freed. Ends a recorded run in which threads wait for each other's
// locks, and an explored run to which nothing more comes from outside.
void check_deadlock(const Thread& me);

// Logs the outcome and ends the run with it.
[[noreturn]] void end_run(wire::OutcomeKind outcome, const char* text);

// Replay: the run ended here with the outcome in `record`; ends it the same way.
[[noreturn]] void replay_outcome(const wire::RecordHeader* record);

}  // namespace reweave::core
