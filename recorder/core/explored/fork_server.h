// The fork server: a process that replays the recording up to main, to the first entry of another function, or to a
// schedule point, and waits there. For each request of the supervisor it forks a run with all of its threads
// (syscalls/tasks/checkpoint.h).
//
// Each run continues from there as a process of its own and logs to its own arena (kRunArenaFd), whose configuration
// the supervisor has written.
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// Called at main. Returns at once unless this is a fork server whose runs begin here; then it returns in each run, and
// never in the server.
void at_main();

// SIGTRAP. True if it was at the function of RunConfig::fork_at; then explored runs have begun, as in at_main.
bool on_fork_site(KernelContext& context);

// The same at the schedule point that RunConfig::fork_at names.
void begin_at_point();

}  // namespace reweave::core
