// gdb on a replayed process.
#pragma once

#include <sys/types.h>

#include <string>

namespace reweave {

// Runs gdb on `pid`, which waits in the core at its stop event, until gdb ends. `batch` holds commands separated by
// ';' to run without a terminal, or is empty.
void debug_process(pid_t pid, const std::string& recording, const std::string& batch);

}  // namespace reweave
