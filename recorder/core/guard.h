// If the supervisor is killed, its target must not run on unrecorded: a small process outside the tree waits for that
// and ends the target then, with a message. It is another use of the core's program, for it takes the system next to
// nothing to start: it needs no library, and shares no memory with the supervisor that either would have to copy.
#pragma once

namespace reweave::core {

// True if this program was started to be the guard.
bool is_guard(long argc, const char* name);

// Waits until the supervisor dismisses the guard or is gone. `arguments`: argv (kGuardArguments).
[[noreturn]] void keep_watch(char** arguments);

}  // namespace reweave::core
