// Calls whose result is recorded. Live: made, in scratch memory and without the baton if they may block, then logged
// with their outputs. Replay: injected.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Carries out a kRecorded call.
long recorded_call(Call& call);
// Like recorded_call, for handlers that have changed call.args; `may_block` overrides the row.
long recorded_call(Call& call, bool may_block);
// Makes the system call `number` for `call`. If a signal came before it could sleep, the result is kNotStarted for a
// row with kRestarts, otherwise -EINTR.
long interruptible_syscall(const Call& call, long number, const long* args);
// Makes `call` with the baton. Only a terminal's stop of background processes can interrupt it: then it continues after
// the stop, or, if the stop is yet to come, the result is -EINTR.
long syscall_with_stops(const Call& call, const long* args);
// Answers a call without making it: from the recording in a replay, from the model in an explored run.
long answered_call(Call& call);

}  // namespace reweave::core
