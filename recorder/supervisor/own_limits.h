// The resource limits that Reweave itself lives under. What a limit leaves no room for is said in one line before
// anything is started.
#pragma once

#include <sys/resource.h>

#include "recorder/arena.h"

namespace reweave {

// The target needs as many: the highest of them are ours.
inline constexpr rlim_t kNeededDescriptors = kArenaFd + kReservedFds;

// Raises the soft limit of the stack to what our own verbs need, for this process and its children, and makes a file
// that grows beyond its limit an error instead of SIGXFSZ. Not for `record`, whose program is to see the limits that
// the user set. Throws BadInput if the hard limit of the stack is too low.
void fit_own_limits();

// Throws BadInput if the core cannot be started: it uses descriptors with high numbers, and its data counts against
// RLIMIT_DATA (setrlimit(2)).
void check_limits_of_target();

}  // namespace reweave
