// The duties of process 1 of a PID namespace (pid_namespaces(7)), as in `docker run IMAGE reweave record -- ./test`.
#pragma once

namespace reweave {

// Does nothing unless the calling process is process 1. Otherwise returns in a child process, which continues in its
// place. Process 1 itself stays: it reaps orphans, passes signals on to the child, and exits with the child's status.
// Must be called first, while there is only one thread. Throws SystemError.
void leave_process_one();

}  // namespace reweave
