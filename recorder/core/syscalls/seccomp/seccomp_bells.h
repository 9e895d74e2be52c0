// The pipes of seccomp listeners (seccomp_listener.h).
//
// Thread rule: the baton holder only, live.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// The number (from 1) of the filter whose listener `fd` is; 0 if it is none.
std::uint32_t filter_of_listener(long fd);

// Makes the filter's listener readable. False: nobody listens.
bool ring(const SeccompFilter& filter);
// Takes back one ring. False: there was none.
bool take_ring(long listener);

// The state of a pipe's end, as poll(2) returns it at once: POLLIN, POLLHUP for a listener, POLLERR for a bell.
std::uint32_t state_of_pipe(long fd);
// Sleeps until the state is not 0, until `limit_ms` have passed (-1: no limit), or until a signal or a kick comes.
// Without the baton.
long sleep_at_pipe(long fd, int limit_ms, const std::uint64_t* interruptions);

}  // namespace reweave::core
