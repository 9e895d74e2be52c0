// Tracing: what system calls do to pipes, sockets, event counters, signals, file locks, message queues and futexes,
// which threads wait for each other by. As wire::KernelStep records; the supervisor knows which descriptors are one
// object.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Right before the call is made: what others may get before it has returned.
void trace_gifts(const Call& call);
// The call returned `result`: what it got, and the descriptors that it made.
void trace_receipts(const Call& call, long result);

}  // namespace reweave::core
