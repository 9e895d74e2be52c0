// Signals that threads of an explored run send each other: nothing goes through the kernel. Those from outside come at
// the calls at which the recording has them.
#pragma once

#include "recorder/core/dispatch.h"

namespace reweave::core {

// Carries out a kill, tkill or tgkill within the process. False: it goes elsewhere.
bool send_modelled(const Call& call, int number);

// The calling thread gets a signal for what it did, as the kernel would send it.
void send_modelled_to_self(int number);

// Delivers to the calling thread what its mask does not keep back any more.
void release_pending_signals();

// rt_sigtimedwait: waits for a signal of its set to be sent; logs the answer and returns it.
long wait_for_signal(Call& call);

// rt_sigsuspend, pause: waits until a handler is to run; logs the answer and returns it.
long wait_for_handler(Call& call);

}  // namespace reweave::core
