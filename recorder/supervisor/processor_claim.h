// Which processor the threads of a target share. Runs side by side, under `make -j` or `ctest -j`, should not all take
// the same.
#pragma once

#include <sched.h>

#include <cstdint>

namespace reweave {

// One of `allowed` that the fewest other runs of Reweave on this machine have, as far as they are in our network
// namespace. It is this process's until that ends; later calls return the same if it is allowed. One thread.
std::uint32_t claim_processor(const cpu_set_t& allowed);

}  // namespace reweave
