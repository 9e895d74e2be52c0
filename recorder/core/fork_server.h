// The fork server: a process that has come to main waits there and forks a run for each request of the supervisor.
//
// Until main it replays the recording; each run goes on from there as a process of its own, with its own arena
// (kRunArenaFd), whose configuration the supervisor has written, and logs to it.
#pragma once

namespace reweave::core {

// Called at main (or at a static program's first instruction). Returns at once unless the run is a fork server's;
// then returns in each run, and never in the server.
void fork_point();

}  // namespace reweave::core
