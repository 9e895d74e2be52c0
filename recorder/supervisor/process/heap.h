// The heap of a process that records or replays one program and ends with it.
#pragma once

#include <cstddef>

namespace reweave {

// To be called once, before much is allocated. Keeps freed memory from then on, and allocates what the start of a run
// needs at once: a hundred page faults take a tenth of the time of recording a hello world, and under a hypervisor with
// shadow page tables each takes twenty microseconds.
void prepare_heap();

// Allocates pages for `bytes` of later small allocations at once, or none if there is no room.
void enlarge_heap(std::size_t bytes);

}  // namespace reweave
