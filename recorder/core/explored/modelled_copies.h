// Calls of explored runs that copy in the kernel: sendfile, splice, tee, copy_file_range. What they move is known if it
// comes from a pipe or socket of the run's own, or from a file whose contents are.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// False: not such a call, or one that the recording answers.
bool model_copy(Call& call, long& result);

}  // namespace reweave::core
