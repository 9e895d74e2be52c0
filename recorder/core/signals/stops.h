// Stop signals, live. A process stops as a whole and at any instant; if one of its threads had the baton then, nobody
// else in the tree could go on. So the baton is given away first. A signal that comes from the terminal, where the
// program leaves it to its default action, comes to the core: who has no baton in the process stops at once, as the
// kernel would do it; otherwise the signal is delivered like one with a handler, and ends in stop_here().
//
// Nobody catches SIGSTOP: sent from outside of the tree, it may stop whoever has the baton, and with it the tree.
//
// Thread rule: any thread, of its own process.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/signals/kernel_signals.h"

namespace reweave::core {

// True: from now on no thread of this process has the baton or gets it. To be ended in either case.
bool begin_stop();
void end_stop();
// In a new image, whose process may have lost threads in the middle of that.
void begin_without_stops();

// From a thread with the baton: `number` stops the process until somebody continues it.
void stop_here(int number);

}  // namespace reweave::core
