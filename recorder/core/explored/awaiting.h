// Waits of explored runs in system calls, for something that other threads' calls or the outside bring about.
#pragma once

#include "recorder/core/schedule/scheduler.h"

namespace reweave::core {

// A condition that a thread waits for. Both functions get `what`, and may be called in another process of the run.
struct Awaited {
  const void* what;
  std::uint64_t bytes;  // of `what`, on the thread's stack; 0: it is in model memory
  bool (*holds)(const void* what);
  // Lets the outside act without the answer from the program for which it waited. True if the condition can become true
  // then. Null: the outside cannot make it true.
  bool (*hurry)(const void* what);
  // Input from outside could make it true.
  bool from_outside;
};

// Waits until the condition holds, `deadline` (modelled time), or a signal.
WaitResult wait_until(const Awaited& awaited, std::int64_t deadline);

// The run is about to have several processes: moves what threads wait for to memory that all of them share.
void share_waits();

// Something has changed: makes the threads ready whose wait is over.
void wake_satisfied();

// No thread can run. Lets the outside do what it would have done by now; with `late`, also what it would have done
// later. True if a thread can run then.
bool outside_acts(bool late);

// True if a thread waits for something that only the outside could bring.
bool waits_for_outside();

}  // namespace reweave::core
