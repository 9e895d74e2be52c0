// seccomp's user notification (seccomp_unotify(2)), among processes of the tree: a supervisor answers the calls for
// which a filter returns SECCOMP_RET_USER_NOTIF. The kernel takes no part, as with filters themselves (seccomp.h).
//
// The listener's descriptor is the reading end of a pipe: it can be polled, copied, passed on and closed like any
// other. The writing end, the *bell*, is one of the core's own descriptors in each process that has the filter. A
// thread that waits for an answer puts a byte into the pipe, and its supervisor takes it out. The pipe's other state is
// the kernel's too: no bell means that no process has the filter, and no reading end that nobody listens any more.
//
// All state is live only (recorder/seccomp_state.h). A replay takes the supervisor's answers from the recording, and
// likewise what became of each waiting call, which has a record of its own.
//
// Thread rule: the baton holder only.
#pragma once

#include <linux/seccomp.h>

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Flags of filters with listeners. With kWaitsKillable, signals do not interrupt a wait whose notification was
// received.
inline constexpr std::uint32_t kHasListener = SECCOMP_FILTER_FLAG_NEW_LISTENER, kWaitsKillable = 1 << 5;

// Live: makes the listener of `filter`, which the calling thread is about to get. Returns the program's descriptor or
// an error.
long open_listener(SeccompFilter& filter);

// Waits until a supervisor has answered `call`, at which the filter with that number returned SECCOMP_RET_USER_NOTIF.
// True: the call is to be carried out. Otherwise `result` is its result.
bool await_answer(Call& call, std::uint32_t filter, const seccomp_data& data, long& result);

// Replaces bells of filters that no thread of the calling process has.
void silence_bells();

// True if `request` is one of a listener.
bool is_of_listener(std::uint32_t request);
// Carries out such a request. False if the descriptor is not a listener; then the kernel is to answer.
bool handle_listener(Call& call, long& result);

}  // namespace reweave::core
