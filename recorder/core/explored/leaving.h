// The end of an explored run at a call that the model cannot answer.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Ends the run: the model lacks what the call needs.
[[noreturn]] void leave_recording(const Call& call, const char* why);

}  // namespace reweave::core
