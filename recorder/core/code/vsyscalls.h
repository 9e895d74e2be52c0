// The vsyscall page: three calls at fixed addresses that the kernel answers without a system call, so that Syscall User
// Dispatch does not see them. Old programs, and such as are written by hand, have these addresses as constants in their
// code. They are looked for when code is mapped, and lead to stubs of ours then, which make system calls, if there is a
// call through the same register soon behind. Calls through addresses in data are not found.
#pragma once

#include <cstdint>

namespace reweave::core {

// Replaces the constant whose upper half is at `upper` if it is such an address and a `mov` has it, in code of a file
// that begins 16 bytes before or earlier and ends at `end`; false if not.
bool redirect_vsyscall(std::uint64_t upper, std::uint64_t end);

}  // namespace reweave::core
