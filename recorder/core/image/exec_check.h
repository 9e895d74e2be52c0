// Refuses programs that the kernel would refuse to execute. The core must check this, because the kernel itself
// executes only the core.
#pragma once

namespace reweave::core {

// Recording: 0, or the error that exec of `path` returns. Lends the baton. `closes`: exec closes the descriptor by
// which the file is given.
long check_executable(const char* path, bool closes);

// 0, or the error that exec with these arguments returns.
long check_arguments(char* const* argv, char* const* envp);

}  // namespace reweave::core
