// Calls on files of /proc that the program is shown as edited copies (shown_file.h): opening them, and reading them
// again.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Recording: the call opens such a file; its path is the argument `slot`, its flags the next.
bool opens_shown(const Call& call, int slot);
long open_shown(Call& call, int slot);

}  // namespace reweave::core
