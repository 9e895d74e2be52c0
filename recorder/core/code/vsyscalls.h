// The vsyscall page: three calls at fixed addresses that the kernel answers without a system call, so that Syscall User
// Dispatch does not see them. Old and hand-written programs have these addresses as constants in their code. They are
// searched for when code is mapped, and replaced by addresses of stubs that make system calls, if a call through the
// same register follows soon. Calls through addresses in data are not found.
#pragma once

#include <cstdint>

namespace reweave::core {

// Replaces the constant whose upper half is at `upper` if it is such an address and the operand of a `mov`; false if
// not. The code, of a file, must begin at least 16 bytes earlier and ends at `end`.
bool redirect_vsyscall(std::uint64_t upper, std::uint64_t end);

}  // namespace reweave::core
