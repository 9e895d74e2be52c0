// The folder of a process or thread in /proc. A container may show the /proc of an outer PID namespace, which has other
// numbers (proc(5)).
#pragma once

#include <sys/types.h>

#include <string>

namespace reweave {

// The folder of process `pid`, numbered as in this namespace; a nonexistent folder if /proc does not have it.
std::string proc_folder(pid_t pid);
// Likewise for its thread `tid`.
std::string proc_folder(pid_t pid, pid_t tid);

}  // namespace reweave
