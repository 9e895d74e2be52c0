// Waits of explored runs in system calls, for what other threads' calls or the outside bring about.
#pragma once

#include "recorder/core/schedule/scheduler.h"

namespace reweave::core {

// What a thread waits for. Both functions get `what`, and may be called in another process of the run.
struct Awaited {
  const void* what;
  std::uint64_t bytes;  // of `what`, on the thread's stack; 0: it is the model's
  bool (*holds)(const void* what);
  // Somebody outside who waited for the program goes on without it, as far as that is what is waited for. True if the
  // outside could still bring it about; null: it could not.
  bool (*hurry)(const void* what);
  // The outside could bring it about, had it been recorded to.
  bool from_outside;
};

// Waits until it holds, `deadline` of the modelled time, or a signal.
WaitResult wait_until(const Awaited& awaited, std::int64_t deadline);

// The run is about to have several processes: what is waited for becomes memory that all of them have.
void share_waits();

// Something has changed: makes those ready whose wait is over.
void wake_satisfied();

// Nobody can run. The outside does what it would have done by now: true if somebody can.
bool outside_acts(bool late);

// Some thread waits for what only the outside could bring.
bool waits_for_outside();

}  // namespace reweave::core
