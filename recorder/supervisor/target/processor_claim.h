// The processor that the threads of a target share. Parallel runs, under `make -j` or `ctest -j`, should use different
// ones.
#pragma once

#include <sched.h>

#include <cstdint>

namespace reweave {

// Returns one of `allowed` that is used by the fewest other runs of Reweave on this machine, as far as they are in the
// same network namespace. It belongs to this process until that ends; later calls return the same if it is allowed.
// Thread rule: one thread.
std::uint32_t claim_processor(const cpu_set_t& allowed);

// Ends this process's claim. Call this in a process that forks others which have targets: each makes its own claim.
void give_up_processor();

}  // namespace reweave
