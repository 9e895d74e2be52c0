// Time in explored runs. It passes a little with every look at a clock, and jumps to the end of a wait that times out
// or of a sleep: nothing sleeps for real. All clocks go on together from where the recording has them.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Told of every record of the recording, in order, before any run.
void learn_clock(const wire::RecordHeader* record);

// What `clock` (CLOCK_...) shows, in nanoseconds.
std::int64_t look_at_clock(long clock);
// The instant at which `clock` shows `time`, as waits have their deadlines.
std::int64_t modelled_deadline(long clock, std::int64_t time);

// So many nanoseconds from now.
std::int64_t modelled_end(std::int64_t nanoseconds);

// If `call` is a sleep: when it ends. Otherwise kNoDeadline.
std::int64_t end_of_sleep(const Call& call);
// When an rt_sigtimedwait ends without a signal; kNoDeadline: never.
std::int64_t end_of_signal_wait(const Call& call);
// If `call` waits for descriptors, and not for ever: until when. Otherwise kNoDeadline.
std::int64_t end_of_poll(const Call& call);
// What such a call writes when its time is up, done; returns how many entries of `to` (room for three) were set.
std::uint32_t report_nothing_ready(const Call& call, Output* to);

}  // namespace reweave::core
