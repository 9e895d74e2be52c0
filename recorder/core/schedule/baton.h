// How the baton goes from thread to thread, whoever decided that it does: the policy (choice.h) or the recording
// (recorded_switches.h).
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Lets `to` go on as one that has the baton: if it still waited, `expired` says why its wait ended.
void resume(Thread& to, std::uint32_t expired);
// Gives `to`, which may go on, the baton.
void hand_over(Thread& to);
// Recording: logs that `me` gives `to` the baton, and does so. False: it did not, for the process of `to` is being
// stopped.
bool give_baton(Thread& me, Thread& to, wire::SwitchReason reason);

// Sleeps until this thread has the baton. A blocked thread notes the passing of its own deadline, and then, like one
// that returned from the kernel, takes the baton if it is free.
void wait_for_baton(Thread& me);

// Recording: `me`, which cannot go on, passes the baton to whoever can; if there is nobody, it is free.
void pass_on(Thread& me, wire::SwitchReason reason);

}  // namespace reweave::core
