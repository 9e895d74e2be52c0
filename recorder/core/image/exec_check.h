// What the kernel would refuse to execute is refused here, for the kernel only sees the core.
#pragma once

namespace reweave::core {

// Recording: 0, or the error that exec of `path` gives. Lends the baton. `closes`: exec closes the descriptor that it
// is called by.
long check_executable(const char* path, bool closes);

// 0, or the error that exec with these gives.
long check_arguments(char* const* argv, char* const* envp);

}  // namespace reweave::core
