// Replay: the baton goes where the recording says.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Schedule points until `record`, the recording's next, is due.
std::int64_t points_to(const wire::RecordHeader* record);

// While the recording says that the baton moved here for `reason`, obeys.
void follow_recorded_switches(wire::SwitchReason reason);

// `me` cannot go on: the recording says who does. `doing` is what it did, for the message if the recording does not.
void pass_on_recorded(Thread& me, wire::SwitchReason reason, const char* doing);

// The calling thread was killed while it had the baton, which goes where the recording says.
void abandon_baton();

// Replay: a run that was ended from outside its code (a hang) ends at the same point.
void end_if_recorded();

}  // namespace reweave::core
