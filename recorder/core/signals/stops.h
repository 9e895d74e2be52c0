// Stop signals, live. A process can be stopped as a whole at any instant; if one of its threads had the baton, no other
// thread of the tree could proceed. So the baton is given away first. A stop signal from the terminal whose action is
// the default is delivered to the core. If no thread of the process has the baton, the process stops at once, as the
// kernel would do it; otherwise the signal is delivered like one with a handler, and ends in stop_here().
//
// SIGSTOP cannot be caught: sent from outside the tree, it may stop the baton holder, and the tree with it.
//
// Thread rule: any thread, of its own process.
#pragma once

#include "recorder/core/base/context.h"
#include "recorder/core/signals/kernel_signals.h"

namespace reweave::core {

// True if from now on no thread of this process has the baton or gets it. Call end_stop in either case.
bool begin_stop();
void end_stop();
// Called in a new image, whose process may have lost threads in the middle of a stop.
void begin_without_stops();

// From a thread with the baton: `number` stops the process until somebody continues it. Live, 0 stops nothing.
void stop_here(int number);

}  // namespace reweave::core
