// Recording: finds a place that a computing thread comes to seldom, to preempt it there.
//
// A replay finds a preemption by a trap at its instruction, so it must not be one of an inner loop: there are a billion
// executions of those in some seconds. Places to which functions return are tried, those of inner frames first, until
// one was not reached at once.
#pragma once

#include "recorder/core/kernel_types.h"

namespace reweave::core {

// The holder is at `context`, in its own code, and computes. False: nothing on its stack looks like a return address.
bool seek_rare_place(const KernelContext& context);
// Of the thread that seeks, whenever the supervisor looks at it.
void seek_on();
// SIGTRAP. True if it was a place's.
bool on_sought_place(KernelContext& context);

// A system call: the thread that was looked at has come to a schedule point, and the code may change.
extern bool seeking_place;
void stop_seeking();
inline void stop_seeking_place() {
  if (seeking_place) stop_seeking();
}

}  // namespace reweave::core
