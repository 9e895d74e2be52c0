// Time in explored runs. It advances a little with every read of a clock, and jumps to the end of a wait that times out
// or of a sleep: nothing sleeps for real. All clocks continue together from their values in the recording.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Called with every record of the recording, in order, before any run.
void learn_clock(const wire::RecordHeader* record);

// Reads `clock` (CLOCK_...), in nanoseconds.
std::int64_t look_at_clock(long clock);
// The instant at which `clock` shows `time`, in the modelled time of deadlines.
std::int64_t modelled_deadline(long clock, std::int64_t time);

// The instant that many nanoseconds from now.
std::int64_t modelled_end(std::int64_t nanoseconds);

// If `call` is a sleep: when it ends. Otherwise kNoDeadline.
std::int64_t end_of_sleep(const Call& call);
// When an rt_sigtimedwait ends without a signal; kNoDeadline: never.
std::int64_t end_of_signal_wait(const Call& call);
// If `call` waits for descriptors with a timeout: its end. Otherwise kNoDeadline.
std::int64_t end_of_poll(const Call& call);
// Fills in what such a call writes when it times out; returns how many entries of `to` (room for three) were set.
std::uint32_t report_nothing_ready(const Call& call, Output* to);

}  // namespace reweave::core
