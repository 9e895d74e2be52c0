// The fork server: a process that has come to main, or to the first entry of another function, or to some schedule
// point, waits there and forks a run for each request of the supervisor, with all threads that there are
// (syscalls/tasks/checkpoint.h).
//
// Up to there it replays the recording. Each run continues from there as a process of its own, with its own arena
// (kRunArenaFd), whose configuration the supervisor has written, and logs to it.
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// Called at main. Returns at once unless this is a fork server whose runs begin here; then it returns in each run, and
// never in the server.
void at_main();

// SIGTRAP. True if it was at the function of RunConfig::fork_at; then explored runs have begun, as in at_main.
bool on_fork_site(KernelContext& context);

// Likewise, at the schedule point that it names.
void begin_at_point();

}  // namespace reweave::core
