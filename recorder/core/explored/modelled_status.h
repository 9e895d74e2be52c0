// What explored runs are told of descriptors whose kind is known though the recording does not say.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Answers fstat, and ioctl, of the run's own files, of the standard streams and of nothing else.
// The call asks for the status of what its descriptor leads to.
bool tells_own_status(const Call& call);

bool model_status(Call& call, long& result);

}  // namespace reweave::core
