// A checkpoint: a copy of a process with all of its threads, made while all but the caller wait for the baton.
//
// fork copies memory and the calling thread. The child creates each of the others again with clone, on the stack and
// with the thread-local memory that fork copied; the thread then continues to sleep (schedule/roll_call.h). The IDs
// that the program knows stay the same, because the core assigns them; the kernel's IDs are new. The parent continues
// undisturbed.
//
// Memory that the process shares with others, such as the arena, is not copied. The caller must give a copy another
// arena before making its threads.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// The purpose of a copy: it becomes an explored run, or continues the replay.
enum class CopyGoesOn { kExplored, kReplaying };
// Called by the baton holder in a replay. Null if a copy would be exact and the threads are where they can be copied;
// else the reason, in a few words that follow "because".
const char* prepare_checkpoint(CopyGoesOn how);

// Call this after prepare_checkpoint and a fork, in the child, when it has its own arena. Makes the other threads of
// the process.
void make_threads_of_copy();

// Ends the calling thread, when the runtime no longer needs it. In a copy, the kernel's first thread, which was made by
// fork, sleeps until its process ends: debuggers would wait for a process whose first thread has ended.
[[noreturn]] void end_kernel_thread(long status);

}  // namespace reweave::core
