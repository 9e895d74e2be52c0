// Answers about descriptors whose type is known although the recording does not have it.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// True if the call asks for the status of the file to which its descriptor refers.
bool tells_own_status(const Call& call);

// Answers fstat and ioctl for the run's own files and the standard streams, and for nothing else.
bool model_status(Call& call, long& result);

}  // namespace reweave::core
