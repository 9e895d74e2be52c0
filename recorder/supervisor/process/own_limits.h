// The resource limits of Reweave itself. A limit that is too low is reported in one line before anything is started.
#pragma once

#include <sys/resource.h>

#include "recorder/arena.h"

namespace reweave {

// The number of descriptors that the target needs. Reweave uses the highest ones.
inline constexpr rlim_t kNeededDescriptors = kArenaFd + kReservedFds;

// Raises the soft stack limit of this process and its children to the size that Reweave's own verbs need, and turns
// SIGXFSZ into an error for a file that exceeds its limit. Not for `record`, whose program must see the user's limits.
// Throws BadInput if the hard stack limit is too low.
void fit_own_limits();

// Throws BadInput if the core cannot be started: it uses high descriptor numbers, and its data counts towards
// RLIMIT_DATA (setrlimit(2)).
void check_limits_of_target();

}  // namespace reweave
