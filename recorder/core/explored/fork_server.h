// The fork server: a process that has come to main, or to the first entry of another function, waits there and forks a
// run for each request of the supervisor.
//
// Until there it replays the recording; each run goes on from there as a process of its own, with its own arena
// (kRunArenaFd), whose configuration the supervisor has written, and logs to it.
#pragma once

#include "recorder/core/base/kernel_types.h"

namespace reweave::core {

// Called at main. Returns at once unless the run is a fork server's whose runs begin here; then returns in each run,
// and never in the server.
void at_main();

// SIGTRAP. True if it was at the function RunConfig::fork_at; then explored runs have begun, as in at_main.
bool on_fork_site(KernelContext& context);

}  // namespace reweave::core
