// Tracing: effects of system calls on pipes, sockets, event counters, signals, file locks, message queues and futexes,
// by which threads wait for each other. They become wire::KernelStep records; the supervisor knows which descriptors
// refer to the same object.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Call this right before the system call is made: notes what other threads may receive before it has returned.
void trace_gifts(const Call& call);
// Call this after the system call returned `result`: notes what it received, and the descriptors that it made.
void trace_receipts(const Call& call, long result);

}  // namespace reweave::core
