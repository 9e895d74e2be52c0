// The heap of a process that records or replays one program and ends with it.
#pragma once

#include <cstddef>

namespace reweave {

// Call it once, before much is allocated. Freed memory is kept from then on, and what the start of a run needs is asked
// of the kernel at once: a hundred page faults are a tenth of what recording a hello world takes, and where page tables
// are shadowed by a hypervisor each takes twenty microseconds.
void prepare_heap();

// Asks at once for `bytes` that will be allocated in small amounts, or none if there is no room.
void enlarge_heap(std::size_t bytes);

}  // namespace reweave
