// Calls whose result is recorded: made live, in scratch memory without the baton if they may block, then logged with
// what they wrote; replaying, injected.
#pragma once

#include "recorder/core/syscalls/call.h"

namespace reweave::core {

// Carries out a kRecorded call.
long recorded_call(Call& call);
// As recorded_call, for handlers that first changed call.args; `may_block` overrides the row.
long recorded_call(Call& call, bool may_block);
// Makes `number` for `call`, whose row says what a signal that came before it could sleep does: with kRestarts the
// result is kNotStarted, otherwise -EINTR.
long interruptible_syscall(const Call& call, long number, const long* args);
// Makes `call` with the baton. Nothing interrupts it but what the terminal does to those in the background: then it
// goes on after the stop, or, if that is yet to come, the result is -EINTR.
long syscall_with_stops(const Call& call, const long* args);
// Answers a call without making it: from the recording when replaying, from the model when exploring.
long answered_call(Call& call);

}  // namespace reweave::core
