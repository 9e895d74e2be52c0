// Replay: the baton goes where the recording says.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Returns the number of schedule points until `record`, the recording's next one, is due.
std::int64_t points_to(const wire::RecordHeader* record);

// While the recording says that the baton moved here for `reason`, obeys. False: an explored run has begun meanwhile,
// whose policy gave this thread the baton.
bool follow_recorded_switches(wire::SwitchReason reason);

// `me` cannot continue: passes the baton to the thread that the recording names. `doing` is the action of `me`; it is
// named in the message if the recording has no switch here.
void pass_on_recorded(Thread& me, wire::SwitchReason reason, const char* doing);

// The calling thread was killed while it had the baton, which goes where the recording says.
void abandon_baton();

// Replay: ends a run that was ended from outside its code (a hang) at the same point.
void end_if_recorded();

}  // namespace reweave::core
