// Statuses of traced threads that came while somebody waited for others.
#pragma once

#include <sys/types.h>

#include <optional>

namespace reweave {

// To be taken by whoever is interested in `lwp`.
void add_stray(pid_t lwp, int status);
std::optional<int> take_stray(pid_t lwp);

}  // namespace reweave
