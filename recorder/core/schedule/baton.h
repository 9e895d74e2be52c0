// Passes the baton from thread to thread, as the policy (choice.h) or the recording (recorded_switches.h) has decided.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// Lets `to` continue as the baton holder; if it was still waiting, `expired` says why its wait ended.
void resume(Thread& to, std::uint32_t expired);
// Gives the baton to `to`, which must be able to run.
void hand_over(Thread& to);
// Recording: logs that `me` gives the baton to `to`, and does so. False: it did not, because the process of `to` is
// being stopped.
bool give_baton(Thread& me, Thread& to, wire::SwitchReason reason);

// Sleeps until this thread has the baton. A blocked thread notices when its own deadline passes, and then takes the
// baton if it is free, like a thread that has returned from the kernel.
void wait_for_baton(Thread& me);

// Recording: `me`, which cannot continue, passes the baton to a thread that can; if there is none, the baton is free.
void pass_on(Thread& me, wire::SwitchReason reason);

}  // namespace reweave::core
