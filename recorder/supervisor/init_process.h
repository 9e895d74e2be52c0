// What process 1 of a PID namespace has to do (pid_namespaces(7)), as in `docker run IMAGE reweave record -- ./test`.
#pragma once

namespace reweave {

// Does nothing unless the calling process is process 1. Otherwise returns in a child process, which goes on in its
// stead. Process 1 itself stays behind: it reaps orphans, passes signals on to that child, and leaves with its status.
// Call it before anything else, while there is one thread. Throws SystemError.
void leave_process_one();

}  // namespace reweave
