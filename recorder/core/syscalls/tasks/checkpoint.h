// A checkpoint: a copy of a process with all of its threads, made while all but the caller wait for the baton.
//
// fork copies memory and the calling thread. The child creates each of the others again with clone, on the stack and
// with the thread-local memory that fork copied. There the thread continues to sleep (schedule/roll_call.h). The IDs
// that the program knows stay the same, because the core assigns them; the kernel's IDs are new. The parent continues
// undisturbed.
//
// Memory that the process shares with others is not copied. Above all, this is the arena: the maker of a copy gives it
// another arena before its threads are made.
#pragma once

#include "recorder/core/base/context.h"

namespace reweave::core {

// The purpose of a copy: it becomes an explored run, or continues the replay.
enum class CopyGoesOn { kExplored, kReplaying };
// Called by the baton holder in a replay. Null if a copy would be exact and the threads are where they can be copied;
// else the reason, in a few words that follow "because".
const char* prepare_checkpoint(CopyGoesOn how);

// In the child of a fork after that, in its own arena: makes the other threads of the process.
void make_threads_of_copy();

// The thread's last act, when the runtime has no use for it any more. In a copy, the kernel's first thread, which was
// made by fork, sleeps until its process ends: debuggers would wait for a process whose first thread has ended.
[[noreturn]] void end_kernel_thread(long status);

}  // namespace reweave::core
