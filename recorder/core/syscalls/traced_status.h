// /proc/PID/status of a traced thread: the kernel knows nothing of the tracer.
#pragma once

namespace reweave::core {

// True if the path names that file of a thread of the tree that is traced.
bool is_traced_status(const char* path);
// A descriptor with what the file says now, with the tracer's id and the tracing stop; or the error. `flags`: of open.
long open_traced_status(const char* path, long flags);

}  // namespace reweave::core
