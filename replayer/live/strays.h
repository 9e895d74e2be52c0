// Statuses of traced threads that arrived while waiting for other threads.
#pragma once

#include <sys/types.h>

#include <optional>

namespace reweave {

// Keeps a status until take_stray(lwp) is called.
void add_stray(pid_t lwp, int status);
std::optional<int> take_stray(pid_t lwp);

}  // namespace reweave
