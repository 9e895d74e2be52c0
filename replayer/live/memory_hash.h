// Distinguishes the states of a process.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>

namespace reweave {

// Hashes all private writable memory except the runtime's. Pages of zeros count as missing.
std::uint64_t hash_of_memory(pid_t pid);

// Compares registers, ignoring values that a debugger or the kernel changes.
bool same_registers(user_regs_struct a, user_regs_struct b);

}  // namespace reweave
