// Calls on files of /proc of which the program gets edited copies (shown_file.h): opening them and reading them again.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Recording: the call opens such a file; its path is argument `slot`, followed by its flags.
bool opens_shown(const Call& call, int slot);
long open_shown(Call& call, int slot);

}  // namespace reweave::core
