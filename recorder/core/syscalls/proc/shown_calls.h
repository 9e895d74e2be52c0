// Calls on files of /proc of which the program gets edited copies (shown_file.h): opening them and reading them again.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Recording. opens_shown is true if the call opens such a file; open_shown then carries it out. The path is argument
// `slot`, and the flags follow it.
bool opens_shown(const Call& call, int slot);
long open_shown(Call& call, int slot);

}  // namespace reweave::core
