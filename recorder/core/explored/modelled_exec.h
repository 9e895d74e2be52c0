// Programs that explored runs execute: those that the recorded run executed under the same name, of the files that it
// loaded then.
//
// Thread rule: the baton holder only.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// An execve or execveat: the error that it gives, or 0.
long execute_modelled(const Call& call);
// Behind that: the record of the next file of the new program. Null: there is none left.
const wire::MapFileRecord* next_recorded_image();
// The calling process has a new image, and descriptors of its own: what does not survive that is gone.
void begin_modelled_image();

}  // namespace reweave::core
