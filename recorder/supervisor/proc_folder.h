// Where /proc has a process or a thread. A container may show the /proc of an outer PID namespace, which has other
// numbers than ours (proc(5)).
#pragma once

#include <sys/types.h>

#include <string>

namespace reweave {

// The folder of process `pid` as we number it; one that does not exist if /proc does not have it.
std::string proc_folder(pid_t pid);
// Likewise of its thread `tid`.
std::string proc_folder(pid_t pid, pid_t tid);

}  // namespace reweave
