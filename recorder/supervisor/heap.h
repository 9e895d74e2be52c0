// The heap of a process that records or replays one program and ends with it.
#pragma once

namespace reweave {

// Call it once, before much is allocated. Freed memory is kept from then on, and what the start of a run needs is asked
// of the kernel at once: a hundred page faults are a tenth of what recording a hello world takes, and where page tables
// are shadowed by a hypervisor each takes twenty microseconds.
void prepare_heap();

}  // namespace reweave
