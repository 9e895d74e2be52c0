// Programs that explored runs execute: those that the recorded run executed under the same name, with the files that it
// loaded then.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// An execve or execveat: its error, or 0.
long execute_modelled(const Call& call);
// After execute_modelled: the record of the next file of the new program. Null: there are no more.
const wire::MapFileRecord* next_recorded_image();
// The calling process has a new image, and descriptors of its own: drops what does not survive that.
void begin_modelled_image();

}  // namespace reweave::core
