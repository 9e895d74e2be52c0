// Calls of explored runs that copy in the kernel: sendfile, splice, tee, copy_file_range. The data is known if it comes
// from a pipe or socket of the run's own, or from a file with known contents.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// False: another call, or one that the recording answers.
bool model_copy(Call& call, long& result);

}  // namespace reweave::core
