// The end of an explored run that the model cannot answer.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Ends the run: the model lacks what the call asks for.
[[noreturn]] void leave_recording(const Call& call, const char* why);

}  // namespace reweave::core
