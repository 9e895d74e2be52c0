// If the supervisor is killed, its target must not continue unrecorded. So a small process outside the tree, the guard,
// waits for the supervisor's end, and then prints a message and kills the target. The guard uses the core's program
// because that starts very fast: it needs no library, and shares no memory with the supervisor that either would have
// to copy.
#pragma once

namespace reweave::core {

// True if this program was started to be the guard.
bool is_guard(long argc, const char* name);

// Waits until the supervisor dismisses the guard or is gone. `arguments`: argv (kGuardArguments).
[[noreturn]] void keep_watch(char** arguments);

}  // namespace reweave::core
