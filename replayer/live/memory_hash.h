// Tells apart the states of a process.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>

namespace reweave {

// Of what the program could have written: all its private writable memory, without the runtime's. Pages that are zero
// count as pages that are not there.
std::uint64_t hash_of_memory(pid_t pid);

// Without what a debugger or the kernel changes.
bool same_registers(user_regs_struct a, user_regs_struct b);

}  // namespace reweave
